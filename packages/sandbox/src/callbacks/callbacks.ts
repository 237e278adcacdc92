// Callback delivery over real HTTP: independent retries per event (P2 §6.5), the same Identifier each time, then dropped.
import { CappedLog, LOG_SIZE } from "../engine/capped-log.js";
import type { Clock } from "../engine/clock.js";
import type { Faults } from "../engine/faults.js";
import { setMaxListeners } from "node:events";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { got } from "got";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** P2 §6.5: the delay before each of the nine retries. */
const retryDelaysMs = [
  30 * SECOND,
  30 * SECOND,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  5 * HOUR,
  15 * HOUR,
  30 * HOUR,
];

/** A reordered event is sent at this time, if no later event was sent before it. */
const MAX_HOLD_MS = 20 * DAY;

export interface CallbackEvent {
  provider: string;
  identifier: string;
  kind: string;
  itemId: string;
  intent: string | null;
  lookupKeys: string[];
  account: string;
  magicKey?: string | undefined;
  url: string;
  body: string;
  /** The delay before each retry; absent: those of P2 §6.5. */
  retryDelaysMs?: readonly number[];
}

interface PendingCallback extends CallbackEvent {
  key: string;
  due: number;
  attempts: number;
}

export interface CallbackLogEntry {
  at: string;
  identifier: string;
  kind: string;
  itemId: string;
  intent: string | null;
  attempt: number;
  result: "delivered" | "retrying" | "dropped" | "lost";
  status?: number;
  error?: string;
}

export interface CallbackState {
  pending: PendingCallback[];
  held: [string, string][];
  counts: Record<CallbackLogEntry["result"], number>;
}

export interface CallbackOptions {
  clock: Clock;
  faults: Faults;
  changed: () => void;
}

const noCounts = () => ({ delivered: 0, retrying: 0, dropped: 0, lost: 0 });

export class Callbacks {
  readonly #options: CallbackOptions;
  readonly #log = new CappedLog<CallbackLogEntry>(LOG_SIZE);
  readonly #http = new CallbackPost();
  readonly #pending = new Map<string, PendingCallback>();
  /** item → the event that waits for the next one to overtake it */
  #held = new Map<string, string>();
  readonly #onDropped = new Map<string, (event: CallbackEvent, at: number) => void>();
  #counts = noCounts();

  constructor(options: CallbackOptions) {
    this.#options = options;
    const attempt = ({ key }: { key: string }, at: number) => this.#attempt(key, at);
    options.clock.on("callback", attempt, { isDerived: true });
  }

  /** Called for each event of the provider that nobody accepted, once its last retry failed. */
  onDropped(provider: string, act: (event: CallbackEvent, at: number) => void): void {
    this.#onDropped.set(provider, act);
  }

  emit(event: CallbackEvent, at: number): void {
    const rules = this.#options.faults.take({
      operation: `${event.provider}.callback`,
      account: event.account,
      lookupKeys: event.lookupKeys,
      event: event.kind,
      magicKey: event.magicKey,
    });
    const fault = (kind: string) => rules.find((rule) => rule.kind === kind);
    const held = this.#pending.get(this.#held.get(event.itemId) ?? "");
    this.#held.delete(event.itemId);
    if (fault("lost")) {
      this.#note(event, 0, "lost", at);
    } else {
      const delayed = fault("delayed");
      const isHeld = fault("reordered") && !held;
      const wait = isHeld ? MAX_HOLD_MS : delayed ? (delayed.ms ?? DAY) : 0;
      this.#schedule({ ...event, key: event.identifier, due: at + wait, attempts: 0 });
      if (isHeld) this.#held.set(event.itemId, event.identifier);
      if (fault("doubled")) {
        this.#schedule({ ...event, key: `${event.identifier}#2`, due: at + wait, attempts: 0 });
      }
    }
    if (held && held.due > at) this.#schedule({ ...held, due: at + 1 });
  }

  log(): CallbackLogEntry[] {
    return this.#log.list();
  }

  counts(): Record<CallbackLogEntry["result"] | "pending", number> {
    return { ...this.#counts, pending: this.#pending.size };
  }

  close(): void {
    this.#http.close();
  }

  clear(): void {
    this.#pending.clear();
    this.#held.clear();
    this.#counts = noCounts();
    this.#log.clear();
  }

  save(): CallbackState {
    return { pending: [...this.#pending.values()], held: [...this.#held], counts: this.#counts };
  }

  load(state: CallbackState): void {
    this.#pending.clear();
    for (const pending of state.pending) this.#schedule(pending);
    this.#held = new Map(state.held);
    this.#counts = state.counts;
  }

  #schedule(pending: PendingCallback): void {
    this.#pending.set(pending.key, pending);
    // A retry gives a receiver that is away the time to come back.
    const how = pending.attempts > 0 ? ({ inRealTime: true } as const) : {};
    this.#options.clock.schedule(pending.due, "callback", { key: pending.key }, how);
  }

  async #attempt(key: string, at: number): Promise<void> {
    const pending = this.#pending.get(key);
    if (!pending || pending.due !== at) return;
    const answer = await this.#http.send(pending.url, pending.body);
    if (this.#http.isClosed || this.#pending.get(key) !== pending) return;
    const attempts = pending.attempts + 1;
    const isDelivered = answer.status !== undefined && answer.status >= 200 && answer.status < 300;
    const delay = (pending.retryDelaysMs ?? retryDelaysMs)[attempts - 1];
    if (isDelivered || delay === undefined) {
      this.#pending.delete(key);
      this.#note(pending, attempts, isDelivered ? "delivered" : "dropped", at, answer);
      if (!isDelivered) this.#onDropped.get(pending.provider)?.(pending, at);
    } else {
      this.#schedule({ ...pending, attempts, due: this.#options.clock.now() + delay });
      this.#note(pending, attempts, "retrying", at, answer);
    }
    this.#options.changed();
  }

  #note(
    event: CallbackEvent,
    attempt: number,
    result: CallbackLogEntry["result"],
    at: number,
    answer: { status?: number; error?: string } = {},
  ): void {
    const { identifier, kind, itemId, intent } = event;
    this.#counts[result] += 1;
    const entry = { identifier, kind, itemId, intent, attempt, result };
    this.#log.add({ at: new Date(at).toISOString(), ...entry, ...answer });
  }
}

// One POST of a callback; at most so many at a time.

const PARALLEL_POSTS = 64;
const TIMEOUT_MS = 10_000;

interface CallbackAnswer {
  status?: number;
  error?: string;
}

class CallbackPost {
  readonly #agent = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  readonly #abort = new AbortController();
  readonly #waiting: (() => void)[] = [];
  #free = PARALLEL_POSTS;

  constructor() {
    setMaxListeners(0, this.#abort.signal);
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  async send(url: string, body: string): Promise<CallbackAnswer> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const { statusCode } = await got.post(url, {
        body,
        headers: { "content-type": "application/json; charset=utf-8" },
        retry: { limit: 0 },
        timeout: { request: TIMEOUT_MS },
        throwHttpErrors: false,
        followRedirect: false,
        signal: this.#abort.signal,
        agent: this.#agent,
      });
      return { status: statusCode };
    } catch (error) {
      return { error: (error as { code?: string }).code ?? "failed" };
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  close(): void {
    this.#abort.abort();
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }
}
