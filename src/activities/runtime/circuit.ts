// Circuits: while the provider refuses an account or is away, calls fail fast without HTTP and one probe at a time goes
// through, so that waiting processes neither lock an account nor storm a provider that comes back (docs/design.md §5). What one
// process alone meets opens nothing for the others: a second one is tried first.
import { ProviderError } from "../../providers/errors/provider-error.js";

export interface CircuitOptions {
  /** The time between two probes. */
  probeMs: number;
  /** How many calls in a row must fail before an unavailable provider is left alone. */
  failures: number;
}

/**
 * What a call is about: a denial may speak of the operation alone, everything else of the account as a whole
 * (docs/reading-the-specification.md §9).
 */
export interface Way {
  account: string;
  operation: string;
  /** Whose call it is: the process. */
  intent: string;
  /** A person asked for it: it is the next probe, instead of failing fast. */
  urgent?: boolean;
}

/** The circuit's own refusal, in the words of the error that opened it: nothing was sent. */
export class NotAsked extends ProviderError {}

interface State {
  error: ProviderError;
  failures: number;
  /** Whose calls met it. */
  intents: Set<string>;
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
/** How many are remembered; the oldest is forgotten, and its next failure counts as a first one. */
const mostAlone = 1_000;

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #states = new Map<string, State>();
  /** Intents that fail while others are served: what they meet says nothing of the rest. */
  readonly #alone = new Set<string>();
  #calls = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** Why a call would not be let through now, if so; takes no probe. */
  closed(way: Way): NotAsked | undefined {
    if (way.urgent) return undefined;
    const states = keysOf(way).map((key) => this.#openAt(key, way));
    const state = states.find((one) => one && !isDue(one, one.nextProbe));
    return state && refusal(state);
  }

  async run<T>(way: Way, call: () => Promise<T>): Promise<T> {
    const probes: State[] = [];
    try {
      for (const key of keysOf(way)) {
        const probe = await this.#pass(key, way);
        if (probe) probes.push(probe);
      }
      const began = (this.#calls += 1);
      try {
        const answer = await call();
        for (const key of keysOf(way)) this.#close(key, way, began);
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
  async #pass(key: string, way: Way): Promise<State | undefined> {
    const came = performance.now();
    for (;;) {
      const state = this.#openAt(key, way);
      if (!state) return undefined;
      const mayHurry = way.urgent === true && state.error.kind !== "rateLimited";
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

  /** What stops the call, if anything does: one intent's failure stops only its own. */
  #openAt(key: string, { intent }: Way): State | undefined {
    const state = this.#states.get(key);
    if (!state) return undefined;
    const { error, failures, intents } = state;
    if (error.kind === "rateLimited") return state;
    const isEnough = error.kind !== "unavailable" || failures >= this.#options.failures;
    return isEnough && (intents.size > 1 || intents.has(intent)) ? state : undefined;
  }

  /** The provider serves the intent. The few that failed before it, if any, failed alone. */
  #close(key: string, { intent }: Way, began: number): void {
    this.#alone.delete(aloneKey(key, intent));
    const state = this.#states.get(key);
    if (!state || state.notedAt >= began) return;
    this.#states.delete(key);
    if (state.error.kind === "rateLimited" || state.intents.size > this.#options.failures) return;
    for (const other of state.intents) if (other !== intent) this.#alone.add(aloneKey(key, other));
    for (const oldest of this.#alone) {
      if (this.#alone.size <= mostAlone) break;
      this.#alone.delete(oldest);
    }
  }

  #note(way: Way, error: ProviderError, began: number): void {
    const { kind, denies, retryAfterMs } = error;
    // A lost answer says nothing of the account.
    if (kind === "unknownOutcome") return;
    const [account, operation] = keysOf(way);
    const isDenial = kind === "accessDenied" && denies === "operation";
    const isAway = kind === "accessDenied" || kind === "unavailable" || kind === "rateLimited";
    if (isDenial || !isAway) this.#close(account, way, began);
    if (!isAway) return this.#close(operation, way, began);

    const key = isDenial ? operation : account;
    if (kind !== "rateLimited" && this.#alone.has(aloneKey(key, way.intent))) return;
    const before = this.#states.get(key);
    const same = before?.error.kind === kind ? before.intents : [];
    const heardAt = performance.now();
    const heard = {
      error,
      failures: (before?.failures ?? 0) + 1,
      intents: new Set([...same, way.intent]),
      notedAt: (this.#calls += 1),
      heardAt,
      nextProbe: heardAt + (retryAfterMs ?? this.#options.probeMs),
    };
    if (before) Object.assign(before, heard);
    else {
      const first = { probedAt: -Infinity, probing: false };
      this.#states.set(key, { ...first, ...heard });
    }
  }
}

function keysOf({ account, operation }: Way): [string, string] {
  return [account, `${account}/${operation}`];
}

function aloneKey(key: string, intent: string): string {
  return `${key} ${intent}`;
}

function isDue(state: State, time: number): boolean {
  return !state.probing && performance.now() >= time;
}

function refusal({ error, nextProbe }: State): NotAsked {
  const { kind, provider, operation, problem, status, code, denies } = error;
  const waitMs = Math.max(1, Math.ceil(nextProbe - performance.now()));
  return new NotAsked({
    kind,
    provider,
    operation,
    effect: "none",
    problem: `${problem}; not asked again yet`,
    status,
    code,
    denies,
    ...(kind === "rateLimited" ? { retryAfterMs: waitMs } : {}),
  });
}
