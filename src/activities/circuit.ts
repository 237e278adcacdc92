// A circuit per provider and account: while the provider refuses the account or is away, calls fail fast without HTTP
// and one probe at a time goes through, so that waiting processes neither lock an account nor storm a provider (DESIGN §5).
import { ProviderError } from "../providers/errors.js";

export interface CircuitOptions {
  /** The time between two probes. */
  probeMs: number;
  /** How many calls in a row must fail before an unavailable provider is left alone. */
  failures: number;
}

interface State {
  error: ProviderError;
  failures: number;
  since: number;
  nextProbe: number;
}

export class Circuits {
  readonly #options: CircuitOptions;
  readonly #states = new Map<string, State>();

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** Since when calls fail, in milliseconds of this machine's clock; undefined when the last one went well. */
  failingSince(key: string): number | undefined {
    return this.#states.get(key)?.since;
  }

  async run<T>(key: string, call: () => Promise<T>): Promise<T> {
    const state = this.#states.get(key);
    if (state && this.#isOpen(state)) {
      if (Date.now() < state.nextProbe) throw this.#refusal(state);
      state.nextProbe = Date.now() + this.#options.probeMs;
    }
    try {
      const answer = await call();
      this.#states.delete(key);
      return answer;
    } catch (error) {
      if (error instanceof ProviderError) this.#note(key, error);
      throw error;
    }
  }

  #isOpen({ error, failures }: State): boolean {
    return error.kind !== "unavailable" || failures >= this.#options.failures;
  }

  #note(key: string, error: ProviderError): void {
    const { kind, retryAfterMs } = error;
    if (kind !== "accessDenied" && kind !== "unavailable" && kind !== "rateLimited") {
      this.#states.delete(key);
      return;
    }
    const before = this.#states.get(key);
    this.#states.set(key, {
      error,
      failures: (before?.failures ?? 0) + 1,
      since: before?.since ?? Date.now(),
      nextProbe: Date.now() + (retryAfterMs ?? this.#options.probeMs),
    });
  }

  /** Nothing is sent, so nothing can have happened. */
  #refusal({ error, nextProbe }: State): ProviderError {
    const { kind, provider, operation, status, code } = error;
    return new ProviderError({
      kind,
      provider,
      operation,
      effect: "none",
      problem: "not asked: the circuit is open",
      status,
      code,
      ...(kind === "rateLimited" ? { retryAfterMs: nextProbe - Date.now() } : {}),
    });
  }
}
