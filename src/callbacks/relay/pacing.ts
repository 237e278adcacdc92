// Decides when the relay looks again, and which namespaces it leaves alone for a while.

/** Wakes the relay by a notification or a timer. Wakes without a waiter are kept as one. */
export class WakeSignal {
  readonly #timers = new Set<NodeJS.Timeout>();
  #isAwake = false;
  #resume: (() => void) | undefined;

  wake(): void {
    this.#isAwake = true;
    this.#resume?.();
  }

  wakeIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake();
    }, ms);
    this.#timers.add(timer);
  }

  clear(): void {
    this.#isAwake = false;
  }

  /** Waits for a wake, at most for `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resume = undefined;
    }
    this.#isAwake = false;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.wake();
  }
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;

/** Namespaces that Temporal does not serve at the moment. Each is tried again after a growing pause with jitter. */
export class Namespaces {
  readonly #pauses = new Map<string, { until: number; ms: number }>();
  readonly #answeredAt = new Map<string, number>();

  answered(namespace: string): void {
    this.#pauses.delete(namespace);
    this.#answeredAt.set(namespace, performance.now());
  }

  /** Whether the namespace has answered since that moment. */
  answeredSince(namespace: string, moment: number): boolean {
    return (this.#answeredAt.get(namespace) ?? -Infinity) >= moment;
  }

  /** The pause in milliseconds, if this failure begins one. */
  pause(namespace: string): number | undefined {
    const before = this.#pauses.get(namespace);
    if (before && before.until > performance.now()) return undefined;
    const ms = Math.min((before?.ms ?? FIRST_PAUSE_MS / 2) * 2, MAX_PAUSE_MS);
    const jittered = ms * (0.75 + Math.random() / 2);
    this.#pauses.set(namespace, { until: performance.now() + jittered, ms });
    return jittered;
  }

  paused(): string[] {
    const now = performance.now();
    return [...this.#pauses].filter(([, { until }]) => until > now).map(([namespace]) => namespace);
  }
}
