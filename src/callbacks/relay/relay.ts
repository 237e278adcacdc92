// The relay moves callbacks from the inbox to the processes. It wakes on NOTIFY, waits briefly for more callbacks, and sends
// one signal with all that wait for a process (docs/design.md §7). It may be killed at any point: unmarked callbacks are
// delivered again, and the process detects an event by its id.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BatchItems } from "../../batches/items.js";
import type { HeardItem } from "../../batches/items.js";
import type { ProcessKey } from "../../crypto/data-key.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { listen } from "../../postgres/listen.js";
import type { Listener } from "../../postgres/listen.js";
import type { Pool } from "../../postgres/pool.js";
import { addressRows } from "./addressing.js";
import { batcher } from "../inbox/batcher.js";
import type { Batcher } from "../inbox/batcher.js";
import type { BodyKeys } from "../inbox/body-keys.js";
import { deliver } from "./delivery.js";
import type { CarriedSecret } from "./delivery.js";
import { storeEventSecrets } from "../inbox/event-secrets.js";
import { Inbox, inboxChannel, isFull } from "../inbox/inbox.js";
import { defaultQuota } from "../inbox/quota.js";
import { isOfBatch, keepItems } from "./items.js";
import { WakeSignal } from "./pacing.js";
import type { Parsers, Reader, Sources } from "../inbox/reading.js";
import type { Claimed, ClaimedRow, Settlement } from "../inbox/rows.js";
import { Signaller, signalTimeoutOf } from "./signaller.js";
import type { SignallerOptions } from "./signaller.js";

export interface RelayOptions extends SignallerOptions {
  pool: Pool;
  /** The callback keys, for the correlation value. */
  ring: KeyRing;
  bodyKeys: BodyKeys;
  parsers: Parsers;
  /** The parsers of callbacks to an account's address. */
  sources?: Sources;
  /** Seals for the workers what an event carries for its process alone; without it such a secret is not kept. */
  sealSecret?: ((secret: string, processKey: ProcessKey) => string) | undefined;
  /** How long the reference of such a callback may match no process before the callback is parked. */
  unmatchedMs?: number;
  /** How many callbacks to an account's address each process receives. */
  eventsPerProcess?: number;
  /** How long the first event waits for others, so that one signal carries them. */
  gatherMs?: number;
  /** The interval of polls of the table without a notification. */
  scanMs?: number;
  leaseMs?: number;
  /** How many processes are signalled concurrently. */
  parallel?: number;
  onEvent?: (settlement: Settlement, count: number) => void;
  /** Called after a process was notified of surplus callbacks. */
  onWake?: () => void;
}

export interface RelayHealth {
  listening: boolean;
  /** The time of the last successful poll of the inbox. */
  lastLook?: Date;
  /** Namespaces that Temporal does not serve at the moment. */
  pausedNamespaces: string[];
}

export interface Relay {
  health(): RelayHealth;
  /** Finishes the work in progress. */
  close(): Promise<void>;
}

export function startRelay(options: RelayOptions): Promise<Relay> {
  return Promise.resolve(new RunningRelay(options));
}

/** The warning of a relay that cannot seal. */
export const secretsNotKept =
  "Secrets that callbacks carry are not kept, because keys.secretsPublic is not set";

class RunningRelay implements Relay {
  readonly #options: RelayOptions;
  readonly #inbox: Inbox;
  readonly #items: BatchItems;
  readonly #reader: Reader;
  readonly #claim = randomUUID();
  readonly #wakeSignal = new WakeSignal();
  readonly #signaller: Signaller;
  readonly #delivered: Batcher<string[]>;
  readonly #listener: Listener;
  readonly #running = new Set<Promise<void>>();
  readonly #loopEnded: Promise<void>;
  #closed = false;
  #hasWarnedOfSecrets = false;
  #looks = 0;
  #lastLook: Date | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#inbox = new Inbox(options.pool, options.bodyKeys);
    this.#items = new BatchItems(options.pool);
    const { ring, parsers, sources = {} } = options;
    this.#reader = { inbox: this.#inbox, ring, parsers, sources };
    this.#signaller = new Signaller(options, this.#wakeSignal);
    this.#delivered = batcher<string[]>(
      (ids) => this.#inbox.settle(this.#claim, ids.flat(), { state: "delivered" }),
      { inFlight: 1, maxItems: 1_000 },
    );
    this.#listener = listen(options.pool, inboxChannel, () => this.#wakeSignal.wake());
    this.#loopEnded = this.#loop();
  }

  health(): RelayHealth {
    return {
      listening: this.#listener.connected,
      ...(this.#lastLook && { lastLook: this.#lastLook }),
      pausedNamespaces: this.#signaller.paused(),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wakeSignal.close();
    await this.#listener.close();
    await this.#loopEnded;
    await Promise.all(this.#running);
    this.#wakeSignal.close();
  }

  async #loop(): Promise<void> {
    const { gatherMs = 100, scanMs = 5_000 } = this.#options;
    let pauseMs = 250;
    while (!this.#closed) {
      await this.#wakeSignal.wait(scanMs);
      if (this.#closed) return;
      await sleep(gatherMs);
      try {
        await this.#drain();
        pauseMs = 250;
      } catch (error) {
        this.#options.logger?.warn("the inbox cannot be read", { code: codeOf(error) });
        this.#wakeSignal.wakeIn(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(pauseMs * 2, 10_000);
      }
    }
  }

  async #drain(): Promise<void> {
    const { leaseMs = 30_000, parallel = 16 } = this.#options;
    let more = true;
    while (more && !this.#closed) {
      this.#wakeSignal.clear();
      this.#looks += 1;
      const hadMore = await this.#address(leaseMs);
      await this.#wake();
      const claimedAt = performance.now();
      const rows = await this.#inbox.claim(this.#claim, leaseMs, this.#signaller.paused());
      this.#lastLook = new Date();
      more = isFull(rows) || hadMore;
      for (const group of byProcess(rows)) {
        while (this.#running.size >= parallel) await Promise.race(this.#running);
        const task = this.#handle(group, claimedAt + leaseMs);
        this.#running.add(task);
        void task.finally(() => this.#running.delete(task));
        // A batch is claimed a piece at a time: with this one noted, the next claim has the next.
        if (group[0] && isOfBatch(group[0])) await task;
      }
    }
  }

  // Assigns callbacks to an account's address to their processes; returns whether there may be more.
  async #address(leaseMs: number): Promise<boolean> {
    const { eventsPerProcess = defaultQuota.eventsPerProcess } = this.#options;
    const rows = await this.#inbox.claimUnaddressed(this.#claim, leaseMs);
    await addressRows(rows, {
      ...this.#reader,
      address: (referred) => this.#inbox.address(this.#claim, referred, eventsPerProcess),
      settle: (settled, settlement) => this.#settle(settled, settlement),
      unmatchedMs: this.#options.unmatchedMs ?? 60_000,
    });
    return isFull(rows);
  }

  // Notifies processes that have surplus callbacks.
  async #wake(): Promise<void> {
    const wakes = await this.#inbox.claimWakes(this.#signaller.paused());
    await Promise.all(
      wakes.map(async ({ address, namespace, workflowId, count }) => {
        const problem = await this.#signaller.sendSurplus(namespace, workflowId, count);
        if (problem === "away" || problem === "timeout" || problem === "busy")
          await this.#inbox.wakeLater(address);
        else this.#options.onWake?.();
      }),
    );
  }

  // Delivers the rows of one process; those of a batch are noted instead.
  async #handle(rows: ClaimedRow[], leaseEnd: number): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const { logger } = this.#options;
    const looks = this.#looks;
    try {
      const tools = {
        ...this.#reader,
        settle: (settled: Claimed[], settlement: Settlement) => this.#settle(settled, settlement),
      };
      if (isOfBatch(first)) await keepItems(rows, { ...tools, keep: (heard) => this.#keep(heard) });
      else
        await deliver(rows, {
          ...tools,
          keepSecrets: (carried) => this.#keepSecrets(first, carried),
          signal: (events) => this.#signaller.send(first.namespace, first.workflowId, events),
          inTime: () =>
            !this.#closed && performance.now() + signalTimeoutOf(this.#options) < leaseEnd,
        });
    } catch (error) {
      logger?.warn("callbacks cannot be marked", { code: codeOf(error) });
    }
    // Polls skipped later callbacks of this process while the claim was held.
    if (this.#looks > looks) this.#wakeSignal.wake();
  }

  async #keep(heard: HeardItem[]): Promise<void> {
    await this.#items.keep(this.#claim, heard);
    this.#options.onEvent?.({ state: "kept" }, heard.length);
  }

  async #keepSecrets(processKey: ProcessKey, carried: CarriedSecret[]): Promise<void> {
    const { pool, sealSecret, logger } = this.#options;
    if (sealSecret === undefined) {
      if (!this.#hasWarnedOfSecrets) logger?.warn(secretsNotKept);
      this.#hasWarnedOfSecrets = true;
      return;
    }
    const secrets = carried.map(({ eventId, secret }) => ({
      eventId,
      sealed: sealSecret(secret, processKey),
    }));
    await storeEventSecrets(pool, processKey, secrets);
  }

  async #settle(rows: Claimed[], settlement: Settlement): Promise<void> {
    const ids = rows.map(({ id }) => id);
    if (settlement.state === "delivered") await this.#delivered.add(ids);
    else await this.#inbox.settle(this.#claim, ids, settlement);
    this.#options.onEvent?.(settlement, ids.length);
    if (settlement.state === "waiting") this.#wakeSignal.wakeIn(settlement.pauseMs);
  }
}

function byProcess(rows: ClaimedRow[]): ClaimedRow[][] {
  const groups = new Map<string, ClaimedRow[]>();
  for (const row of rows) {
    const key = `${row.namespace}/${row.workflowId}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
