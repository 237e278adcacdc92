// Circuit breakers. While a provider refuses an account or is unavailable, calls fail fast without HTTP, and one probe at a
// time goes through. So waiting processes neither lock an account nor flood a provider that recovers (docs/design.md §5). An error
// that only one process has met stops only that process.
import { ProviderError } from "../../providers/errors/provider-error.js";

export interface CircuitOptions {
  probeMs: number;
  /** How many calls in a row must fail before the circuit of an unavailable provider opens. */
  failures: number;
}

/**
 * Names the circuits of one call: a denial may open the operation's alone, any other error opens the account's
 * (docs/reading-the-specification.md §9).
 */
export interface CircuitKey {
  account: string;
  operation: string;
  /** The process that makes the call. */
  intent: string;
  /** An operator's retry: it becomes the next probe instead of failing fast. */
  urgent?: boolean;
  /** It is aborted when we break the call off ourselves. */
  signal?: AbortSignal;
}

/** The call was not made because the circuit is open. Kind and problem are those of the error that opened it. */
export class CircuitOpenError extends ProviderError {}

interface State {
  error: ProviderError;
  failures: number;
  /** The processes whose calls failed. */
  intents: Set<string>;
  /** Calls are numbered. Only a call that began after the newest error closes the circuit. */
  notedAt: number;
  nextProbe: number;
  probedAt: number;
  lastErrorAt: number;
  probing: boolean;
}

const WAIT_FOR_PROBE_MS = 50;
/** How many processes are remembered. The oldest is forgotten first; its next failure counts as its first one. */
const MAX_ALONE = 1_000;

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #states = new Map<string, State>();
  /** Processes that fail while others are served: their errors say nothing about the others. */
  readonly #alone = new Set<string>();
  #calls = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** The error to throw while the circuit is open; undefined when calls may pass. It does not use up the probe. */
  openError(target: CircuitKey): CircuitOpenError | undefined {
    if (target.urgent) return undefined;
    const states = keysOf(target).map((key) => this.#openAt(key, target));
    const state = states.find((one) => one && !isDue(one, one.nextProbe));
    return state && refusal(state);
  }

  /** Makes the call, or throws `CircuitOpenError` without making it. */
  async run<A extends unknown[], T>(
    target: CircuitKey,
    call: (...args: A) => Promise<T>,
    ...args: A
  ): Promise<T> {
    const probes: State[] = [];
    try {
      for (const key of keysOf(target)) {
        const probe = await this.#pass(key, target);
        if (probe) probes.push(probe);
      }
      const began = (this.#calls += 1);
      try {
        const answer = await call(...args);
        for (const key of keysOf(target)) this.#close(key, target, began);
        return answer;
      } catch (error) {
        if (error instanceof ProviderError) this.#note(target, error, began);
        throw error;
      }
    } finally {
      for (const probe of probes) probe.probing = false;
    }
  }

  /** The state that this call probes, if any. An urgent call waits until it may probe, or for the result of another probe. */
  async #pass(key: string, target: CircuitKey): Promise<State | undefined> {
    const isUrgent = target.urgent === true;
    const arrivedAt = performance.now();
    for (;;) {
      const state = this.#openAt(key, target);
      if (!state) return undefined;
      if (isUrgent && state.probedAt > arrivedAt && !state.probing) throw refusal(state);
      const urgentProbe = Math.min(state.nextProbe, state.lastErrorAt + this.#options.probeMs / 3);
      if (isDue(state, isUrgent ? urgentProbe : state.nextProbe)) {
        state.probing = true;
        state.probedAt = performance.now();
        state.nextProbe = state.probedAt + this.#options.probeMs;
        return state;
      }
      if (!isUrgent) throw refusal(state);
      await new Promise((resolve) => setTimeout(resolve, WAIT_FOR_PROBE_MS));
    }
  }

  /** The open circuit, if any. A failure of one process alone stops only that process. */
  #openAt(key: string, { intent }: CircuitKey): State | undefined {
    const state = this.#states.get(key);
    if (!state) return undefined;
    const { error, failures, intents } = state;
    if (error.kind === "rateLimited") return state;
    const hasEnough = error.kind !== "unavailable" || failures >= this.#options.failures;
    return hasEnough && (intents.size > 1 || intents.has(intent)) ? state : undefined;
  }

  /** The provider served this process. If only a few others failed before, their errors were their own. */
  #close(key: string, { intent }: CircuitKey, began: number): void {
    this.#alone.delete(aloneKey(key, intent));
    const state = this.#states.get(key);
    if (!state || state.notedAt >= began) return;
    this.#states.delete(key);
    if (state.error.kind === "rateLimited" || state.intents.size > this.#options.failures) return;
    for (const other of state.intents) if (other !== intent) this.#alone.add(aloneKey(key, other));
    for (const oldest of this.#alone) {
      if (this.#alone.size <= MAX_ALONE) break;
      this.#alone.delete(oldest);
    }
  }

  #note(target: CircuitKey, error: ProviderError, began: number): void {
    const { kind, denies, retryAfterMs } = error;
    // A lost answer says nothing about the account, nor does a call that we broke off.
    if (kind === "unknownOutcome" || target.signal?.aborted) return;
    const [account, operation] = keysOf(target);
    const isDenial = kind === "accessDenied" && denies === "operation";
    const isAway = kind === "accessDenied" || kind === "unavailable" || kind === "rateLimited";
    if (isDenial || !isAway) this.#close(account, target, began);
    if (!isAway) return this.#close(operation, target, began);

    const key = isDenial ? operation : account;
    if (kind !== "rateLimited" && this.#alone.has(aloneKey(key, target.intent))) return;
    const before = this.#states.get(key);
    const same = before?.error.kind === kind ? before.intents : [];
    const lastErrorAt = performance.now();
    const newest = {
      error,
      failures: (before?.failures ?? 0) + 1,
      intents: new Set([...same, target.intent]),
      notedAt: (this.#calls += 1),
      lastErrorAt,
      nextProbe: lastErrorAt + (retryAfterMs || this.#options.probeMs),
    };
    if (before) Object.assign(before, newest);
    else {
      const first = { probedAt: -Infinity, probing: false };
      this.#states.set(key, { ...first, ...newest });
    }
  }
}

function keysOf({ account, operation }: CircuitKey): [string, string] {
  return [account, `${account}/${operation}`];
}

function aloneKey(key: string, intent: string): string {
  return `${key} ${intent}`;
}

function isDue(state: State, time: number): boolean {
  return !state.probing && performance.now() >= time;
}

function refusal({ error, nextProbe }: State): CircuitOpenError {
  const { kind, provider, operation, host, problem, status, code, denies } = error;
  const waitMs = Math.max(1, Math.ceil(nextProbe - performance.now()));
  return new CircuitOpenError({
    kind,
    provider,
    operation,
    host,
    effect: "none",
    problem: `${problem}; the circuit is open, so no call is made`,
    status,
    code,
    denies,
    ...(kind === "rateLimited" ? { retryAfterMs: waitMs } : {}),
  });
}
