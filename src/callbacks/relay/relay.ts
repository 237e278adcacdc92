// The relay moves callbacks from the inbox to the processes. It wakes on NOTIFY, waits briefly for more callbacks, and sends
// one signal with all that wait for a process (docs/design.md §7). It may be killed at any point: unmarked callbacks are
// delivered again, and the process detects an event by its id. No row may stop the others: one that fails again and again is tried
// alone, and parked at last.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BatchItems } from "../../batch/items/items.js";
import type { HeardItem } from "../../batch/items/items.js";
import type { ProcessKey } from "../../crypto/data-key.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { listen } from "../../postgres/listen.js";
import type { Listener } from "../../postgres/listen.js";
import type { Pool } from "../../postgres/pool.js";
import { defaultQuota } from "../../contracts/shared/callback-quota.js";
import { keyOfAccount } from "../../contracts/shared/sealed-secret.js";
import { addressRows } from "./addressing.js";
import type { Carrying } from "./addressing.js";
import { batcher } from "../inbox/batcher.js";
import type { Batcher } from "../inbox/batcher.js";
import { BodyOpener, MAX_FAILURES, undeliverable } from "../inbox/rows.js";
import { deliver, itemWordsOf, keepItems } from "./delivery.js";
import type { CarriedSecret } from "./delivery.js";
import { storeEventSecrets } from "../inbox/event-secrets.js";
import { Inbox, inboxChannel, isFull } from "../inbox/inbox.js";
import type { Parsers, Reader, Sources } from "../inbox/reading.js";
import type { Claimed, ClaimedRow, Referred, Settlement, UnaddressedRow } from "../inbox/rows.js";
import {
  forgetTokens,
  forgetSettled,
  freeJudged,
  judgementsOf,
  offerTokens,
} from "../inbox/unaddressed-tokens.js";
import type { Judgement } from "../inbox/unaddressed-tokens.js";
import { isAnswered, Signaller, signalTimeoutOf, WakeSignal } from "./signaller.js";
import type { SignallerOptions } from "./signaller.js";

export interface RelayOptions extends SignallerOptions {
  pool: Pool;
  /** The callback keys, for the correlation value. */
  ring: KeyRing;
  bodyKeys: KeyRing;
  parsers: Parsers;
  /** They parse callbacks to an account's address. */
  sources?: Sources;
  /** Seals for the workers what an event carries for its process alone; without it such a secret is not kept. */
  sealSecret?: ((secret: string, processKey: ProcessKey) => string) | undefined;
  /** How long the reference of such a callback may match no process before the callback is parked. */
  unmatchedMs?: number;
  /** How many callbacks to an account's address each process receives. */
  eventsPerProcess?: number;
  /** How long the first event waits for others, so that one signal carries them. */
  gatherMs?: number;
  /** The relay looks at the table so often, also without a notification. */
  scanMs?: number;
  leaseMs?: number;
  /** How often the tokens of callbacks that wait no more are forgotten. */
  tidyMs?: number;
  /** How many processes are signalled concurrently. */
  parallel?: number;
  onEvent?: (settlement: Settlement, count: number) => void;
  /** Called after a process was notified of surplus callbacks. */
  onWake?: () => void;
}

export interface RelayHealth {
  listening: boolean;
  /** Whether the last look could read the inbox; false before the first one. */
  reading: boolean;
  lastLook?: Date;
  /** Namespaces that Temporal does not serve at the moment. */
  pausedNamespaces: string[];
}

/** A relay that cannot seal logs it. */
export const secretsNotKept =
  "Secrets that callbacks carry are not kept, because keys.secretsPublic is not set";

/** Of the time that a claim took which found nothing. */
const RESTS = 4;
const MAX_REST_MS = 5_000;

const unreadable = "the inbox cannot be read";
const readableAgain = "the inbox can be read again";
const unassigned = "callbacks to an account's address cannot be assigned to processes";
const unnotified = "processes cannot be notified of surplus callbacks";
const untidy = "tokens that are judged cannot be tidied up";

export class Relay {
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
  /** While rows that are tried alone are under way. */
  #alone: Promise<void> | undefined;
  /** While processes are notified. */
  #waking: Promise<void> | undefined;
  /** How long the last claim took that found nothing, and so passed over what others hold. */
  #fruitlessMs = 0;
  readonly #loopEnded: Promise<void>;
  readonly #closing = new AbortController();
  #hasWarnedOfSecrets = false;
  /** What fails again and again is said once, and so is each other error: the codes by message. */
  readonly #failing = new Map<string, Set<unknown>>();
  #looks = 0;
  #tidiedAt = -Infinity;
  #lastLook: Date | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#inbox = new Inbox(options.pool);
    this.#items = new BatchItems(options.pool);
    const { bodyKeys, ring, parsers, sources = {} } = options;
    this.#reader = { bodies: new BodyOpener(bodyKeys), ring, parsers, sources };
    this.#signaller = new Signaller(options, this.#wakeSignal);
    this.#delivered = batcher<string[]>(
      (ids) => this.#inbox.settle(this.#claim, ids.flat(), { state: "delivered" }).then(() => []),
      { inFlight: 1, maxItems: 1_000 },
    );
    this.#listener = listen(options.pool, inboxChannel, () => this.#wakeSignal.wake());
    this.#loopEnded = this.#loop();
  }

  health(): RelayHealth {
    return {
      listening: this.#listener.connected,
      reading: this.#lastLook !== undefined && !this.#failing.has(unreadable),
      ...(this.#lastLook && { lastLook: this.#lastLook }),
      pausedNamespaces: this.#signaller.paused(),
    };
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Finishes the work in progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wakeSignal.close();
    await this.#listener.close();
    await this.#loopEnded;
    await Promise.all([...this.#running, this.#alone, this.#waking]);
    this.#wakeSignal.close();
  }

  async #loop(): Promise<void> {
    const { gatherMs = 100, scanMs = 5_000 } = this.#options;
    let pauseMs = 250;
    while (!this.#closed) {
      await this.#wakeSignal.wait(scanMs);
      // No relay claims meanwhile: one that finds nothing must not hold up the one that works.
      const restMs = Math.min(RESTS * this.#fruitlessMs, MAX_REST_MS);
      const { signal } = this.#closing;
      await sleep(Math.max(gatherMs, restMs), undefined, { signal }).catch(() => undefined);
      if (await this.#drain()) pauseMs = 250;
      else {
        this.#wakeSignal.wakeIn(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(pauseMs * 2, 10_000);
      }
    }
  }

  /** Returns whether all went well; else the next look may wait. */
  async #drain(): Promise<boolean> {
    const { leaseMs = 30_000, parallel = 16 } = this.#options;
    let more = true;
    while (more && !this.#closed) {
      this.#wakeSignal.clear();
      this.#looks += 1;
      // If one of these fails, the others go on.
      const failed = new Set<string>();
      const noted = (problem: string) => (error: unknown) => {
        failed.add(problem);
        this.#warnOnce(problem, error);
      };
      const ended = (problem: string) => () => void this.#failing.delete(problem);
      await this.#tidyTokens();
      const unaddressed =
        (await this.#inbox.claimUnaddressed(this.#claim, leaseMs).catch(noted(unreadable))) ?? [];
      if (unaddressed.length > 0)
        await this.#addressAll(unaddressed).then(ended(unassigned), noted(unassigned));
      this.#waking ??= this.#wake()
        .then(ended(unnotified), noted(unnotified))
        .finally(() => (this.#waking = undefined));
      const claimedAt = performance.now();
      const paused = this.#signaller.paused();
      const rows = await this.#inbox.claim(this.#claim, leaseMs, paused).catch(noted(unreadable));
      if (!failed.has(unreadable) && this.#failing.delete(unreadable))
        this.#options.logger?.info?.(readableAgain);
      if (!rows) return false;
      this.#fruitlessMs = rows.length === 0 ? performance.now() - claimedAt : 0;
      this.#lastLook = new Date();
      more = isFull(rows) || isFull(unaddressed);
      for (const group of byProcess(rows)) {
        while (this.#running.size >= parallel) await Promise.race(this.#running);
        const task = this.#handle(group, claimedAt + leaseMs);
        this.#running.add(task);
        void task.finally(() => this.#running.delete(task));
        // A batch is claimed a piece at a time: with this one noted, the next claim has the next.
        if (group[0] && itemWordsOf(group[0])) await task;
      }
      this.#alone ??= this.#tryAlone(leaseMs).finally(() => (this.#alone = undefined));
      if (failed.size > 0) return false;
    }
    return true;
  }

  // Tries each row that has failed again and again. It may even end the relay's process, so it comes after the others.
  async #tryAlone(leaseMs: number): Promise<void> {
    try {
      while (!this.#closed) {
        await Promise.all(this.#running);
        const claimedAt = performance.now();
        const row = await this.#inbox.claimAlone(this.#claim, leaseMs, this.#signaller.paused());
        if (row === undefined) return;
        if (row.failures >= MAX_FAILURES)
          await this.#settle([row], undeliverable("it did not end"));
        else if (isAddressed(row)) await this.#handle([row], claimedAt + leaseMs);
        else await this.#addressAll([row]).finally(() => this.#wakeSignal.wake());
      }
    } catch (error) {
      this.#warn("callbacks that have failed cannot be tried", error);
    }
  }

  /** Without it callbacks wait longer, and tokens stay longer: it stops nothing. */
  async #tidyTokens(): Promise<void> {
    const { pool, tidyMs = 60_000 } = this.#options;
    try {
      await freeJudged(pool);
      this.#failing.delete(untidy);
      if (performance.now() - this.#tidiedAt < tidyMs) return;
      this.#tidiedAt = performance.now();
      await forgetSettled(pool);
    } catch (error) {
      this.#warnOnce(untidy, error);
    }
  }

  /** Assigns callbacks to an account's address to their processes. */
  async #addressAll(rows: UnaddressedRow[]): Promise<void> {
    const { eventsPerProcess = defaultQuota.eventsPerProcess, unmatchedMs = 60_000 } =
      this.#options;
    const tools = {
      ...this.#reader,
      address: (referred: Referred[]) =>
        this.#inbox.address(this.#claim, referred, eventsPerProcess),
      judge: (carrying: Carrying[]) => this.#judge(carrying),
      forget: (settled: Claimed[]) => forgetTokens(this.#options.pool, idsOf(settled)),
      settle: (settled: Claimed[], settlement: Settlement) => this.#settle(settled, settlement),
      unmatchedMs,
    };
    await addressRows(rows, tools).catch(async (error: unknown) => {
      await this.#giveBack(rows, error);
      throw error;
    });
  }

  /** If the database cannot do something for now, the rows have not failed: only the death of a relay leaves a claim. */
  async #giveBack(rows: Claimed[], error: unknown): Promise<void> {
    // An error of our own code: the row is the reason.
    const isFailure = error instanceof TypeError || error instanceof RangeError;
    const give = () =>
      isFailure
        ? this.#inbox.settle(this.#claim, idsOf(rows), { ...afterFault, isFailure })
        : this.#inbox.giveBack(this.#claim, idsOf(rows), afterFault.pauseMs);
    await give()
      .catch(give)
      .catch((problem: unknown) => this.#warn("callbacks cannot be given back", problem));
    this.#wakeSignal.wakeIn(afterFault.pauseMs);
  }

  async #judge(carrying: Carrying[]): Promise<Map<string, Judgement> | undefined> {
    const { pool, sealSecret } = this.#options;
    if (sealSecret === undefined) return this.#warnOfSecrets();
    const known = await judgementsOf(pool, idsOf(carrying.map(({ row }) => row)));
    const fresh = carrying.filter(({ row }) => !known.has(row.id));
    const offered = fresh.map(({ row: { id, provider, account }, token }) => ({
      ...{ callback: id, provider, account },
      sealed: sealSecret(token, keyOfAccount(provider, account)),
    }));
    if (offered.length > 0) await offerTokens(pool, offered);
    return known;
  }

  // Notifies processes that have surplus callbacks.
  async #wake(): Promise<void> {
    const wakes = await this.#inbox.claimWakes(this.#signaller.paused());
    await Promise.all(
      wakes.map(async (wake) => {
        const problem = await this.#signaller.send(wake, { count: wake.count });
        if (!isAnswered(problem)) return;
        this.#options.onWake?.();
        await this.#inbox.woken(wake);
      }),
    );
  }

  // Delivers the rows of one process; those of a batch are noted instead.
  async #handle(rows: ClaimedRow[], leaseEnd: number): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const looks = this.#looks;
    try {
      const tools = {
        ...this.#reader,
        settle: (settled: Claimed[], settlement: Settlement) => this.#settle(settled, settlement),
      };
      const words = itemWordsOf(first);
      if (words) await keepItems(rows, words, { ...tools, keep: (heard) => this.#keep(heard) });
      else
        await deliver(rows, {
          ...tools,
          keepSecrets: (carried) => this.#keepSecrets(first, carried),
          signal: (events) => this.#signaller.send(first, events),
          servesOthers: () => this.#signaller.servesOthers(first.namespace),
          inTime: () =>
            !this.#closed && performance.now() + signalTimeoutOf(this.#options) < leaseEnd,
        });
    } catch (error) {
      this.#warn("callbacks cannot be marked", error);
      await this.#giveBack(rows, error);
    }
    // Polls skipped later callbacks of this process while the claim was held.
    if (this.#looks > looks) this.#wakeSignal.wake();
  }

  async #keep(heard: HeardItem[]): Promise<void> {
    await this.#items.keep(this.#claim, heard);
    this.#options.onEvent?.({ state: "kept" }, heard.length);
  }

  async #keepSecrets(processKey: ProcessKey, carried: CarriedSecret[]): Promise<void> {
    const { pool, sealSecret } = this.#options;
    if (sealSecret === undefined) return this.#warnOfSecrets();
    const secrets = carried.map(({ secret, ...rest }) => ({
      ...rest,
      sealed: sealSecret(secret, processKey),
    }));
    await storeEventSecrets(pool, processKey, secrets);
  }

  #warnOfSecrets(): undefined {
    if (!this.#hasWarnedOfSecrets) this.#options.logger?.warn(secretsNotKept);
    this.#hasWarnedOfSecrets = true;
  }

  #warnOnce(message: string, error: unknown): void {
    const said = this.#failing.get(message) ?? new Set();
    if (!said.has(codeOf(error))) this.#warn(message, error);
    this.#failing.set(message, said.add(codeOf(error)));
  }

  #warn(message: string, error: unknown): void {
    this.#options.logger?.warn(message, { code: codeOf(error) });
  }

  async #settle(rows: Claimed[], settlement: Settlement): Promise<void> {
    const ids = idsOf(rows);
    if (settlement.state === "delivered") await this.#delivered.add(ids);
    else await this.#inbox.settle(this.#claim, ids, settlement);
    this.#options.onEvent?.(settlement, ids.length);
    if (settlement.state === "waiting") this.#wakeSignal.wakeIn(settlement.pauseMs);
  }
}

const afterFault = { state: "waiting", pauseMs: 5_000 } as const;

const idsOf = (rows: Claimed[]) => rows.map(({ id }) => id);

function isAddressed(row: ClaimedRow | UnaddressedRow): row is ClaimedRow {
  return "workflowId" in row && row.workflowId !== null;
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

/** The name of an error of our own code, which has no code, says at least of what kind it is. */
function codeOf(error: unknown): unknown {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code ?? name;
}
