// Circuits: while the provider refuses an account or is away, calls fail fast without HTTP and one probe at a time goes
// through, so that waiting processes neither lock an account nor storm a provider that comes back (DESIGN §5).
import { ProviderError } from "../providers/errors.js";

export interface CircuitOptions {
  /** The time between two probes. */
  probeMs: number;
  /** How many calls in a row must fail before an unavailable provider is left alone. */
  failures: number;
}

/** What a call is about: a denial may speak of the operation alone, everything else of the account as a whole (READING §9). */
export interface Way {
  account: string;
  operation: string;
  /** A person asked for it: it is the next probe, instead of failing fast. */
  urgent?: boolean;
}

/** The circuit's own refusal, in the words of the error that opened it: nothing was sent. */
export class NotAsked extends ProviderError {}

interface State {
  error: ProviderError;
  failures: number;
  since: number;
  /** Calls are numbered: only one that began after the newest error proves that it is over. */
  notedAt: number;
  nextProbe: number;
  /** When the newest probe began. */
  probedAt: number;
  /** When the provider last said something of it. */
  heardAt: number;
  probing: boolean;
}

const turnMs = 50;

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #states = new Map<string, State>();
  #calls = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** Since when calls of the account fail, in milliseconds of this machine's clock; undefined when the last one went well. */
  failingSince(account: string): number | undefined {
    return this.#states.get(account)?.since;
  }

  /** Why a call would not be let through now, if so; takes no probe. */
  closed(way: Way): NotAsked | undefined {
    if (way.urgent) return undefined;
    const states = keysOf(way).map((key) => this.#openAt(key));
    const state = states.find((one) => one && !isDue(one, one.nextProbe));
    return state && refusal(state);
  }

  async run<T>(way: Way, call: () => Promise<T>): Promise<T> {
    const probes: State[] = [];
    try {
      for (const key of keysOf(way)) {
        const probe = await this.#pass(key, way.urgent === true);
        if (probe) probes.push(probe);
      }
      const began = (this.#calls += 1);
      try {
        const answer = await call();
        for (const key of keysOf(way)) this.#close(key, began);
        return answer;
      } catch (error) {
        if (error instanceof ProviderError) this.#note(way, error, began);
        throw error;
      }
    } finally {
      for (const probe of probes) probe.probing = false;
    }
  }

  /** The state that this call probes, if any. What is urgent waits for its turn, or for the answer of a probe after it came. */
  async #pass(key: string, urgent: boolean): Promise<State | undefined> {
    const came = performance.now();
    for (;;) {
      const state = this.#openAt(key);
      if (!state) return undefined;
      const mayHurry = urgent && state.error.kind !== "rateLimited";
      if (mayHurry && state.probedAt > came && !state.probing) throw refusal(state);
      const hurried = Math.min(state.nextProbe, state.heardAt + this.#options.probeMs / 3);
      if (isDue(state, mayHurry ? hurried : state.nextProbe)) {
        state.probing = true;
        state.probedAt = performance.now();
        state.nextProbe = state.probedAt + this.#options.probeMs;
        return state;
      }
      if (!mayHurry) throw refusal(state);
      await new Promise((resolve) => setTimeout(resolve, turnMs));
    }
  }

  #openAt(key: string): State | undefined {
    const state = this.#states.get(key);
    if (!state) return undefined;
    const isOpen = state.error.kind !== "unavailable" || state.failures >= this.#options.failures;
    return isOpen ? state : undefined;
  }

  #close(key: string, began: number): void {
    const state = this.#states.get(key);
    if (state && state.notedAt < began) this.#states.delete(key);
  }

  #note(way: Way, error: ProviderError, began: number): void {
    const { kind, denies, retryAfterMs } = error;
    // A lost answer says nothing of the account.
    if (kind === "unknownOutcome") return;
    const [account, operation] = keysOf(way);
    const isDenial = kind === "accessDenied" && denies === "operation";
    const isAway = kind === "accessDenied" || kind === "unavailable" || kind === "rateLimited";
    if (isDenial || !isAway) this.#close(account, began);
    if (!isAway) return this.#close(operation, began);

    const key = isDenial ? operation : account;
    const before = this.#states.get(key);
    const heardAt = performance.now();
    const heard = {
      error,
      failures: (before?.failures ?? 0) + 1,
      notedAt: (this.#calls += 1),
      heardAt,
      nextProbe: heardAt + (retryAfterMs ?? this.#options.probeMs),
    };
    if (before) Object.assign(before, heard);
    else {
      const first = { since: Date.now(), probedAt: -Infinity, probing: false };
      this.#states.set(key, { ...first, ...heard });
    }
  }
}

function keysOf({ account, operation }: Way): [string, string] {
  return [account, `${account}/${operation}`];
}

function isDue(state: State, time: number): boolean {
  return !state.probing && performance.now() >= time;
}

function refusal({ error, nextProbe }: State): NotAsked {
  const { kind, provider, operation, status, code, denies } = error;
  const waitMs = Math.max(1, Math.ceil(nextProbe - performance.now()));
  return new NotAsked({
    kind,
    provider,
    operation,
    effect: "none",
    problem: "not asked: the circuit is open",
    status,
    code,
    denies,
    ...(kind === "rateLimited" ? { retryAfterMs: waitMs } : {}),
  });
}
