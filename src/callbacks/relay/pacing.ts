// When the relay looks again, and which namespaces it leaves alone for a while.

/** Rung by notifications and timers; rings that nobody waits for are remembered as one. */
export class Bell {
  readonly #timers = new Set<NodeJS.Timeout>();
  #rang = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rang = true;
    this.#wake?.();
  }

  ringIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.ring();
    }, ms);
    this.#timers.add(timer);
  }

  quiet(): void {
    this.#rang = false;
  }

  /** Until it rings, or for `ms`. */
  async rung(ms: number): Promise<void> {
    if (!this.#rang) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#rang = false;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.ring();
  }
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Namespaces that Temporal does not serve at the moment; each is tried again after a growing, jittered pause. */
export class Namespaces {
  readonly #pauses = new Map<string, { until: number; ms: number }>();
  readonly #answeredAt = new Map<string, number>();

  answered(namespace: string): void {
    this.#pauses.delete(namespace);
    this.#answeredAt.set(namespace, performance.now());
  }

  /** Whether anything was answered since that moment. */
  answeredSince(namespace: string, moment: number): boolean {
    return (this.#answeredAt.get(namespace) ?? -Infinity) >= moment;
  }

  /** The pause in milliseconds, where this begins one. */
  pause(namespace: string): number | undefined {
    const before = this.#pauses.get(namespace);
    if (before && before.until > performance.now()) return undefined;
    const ms = Math.min((before?.ms ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
    const jittered = ms * (0.75 + Math.random() / 2);
    this.#pauses.set(namespace, { until: performance.now() + jittered, ms });
    return jittered;
  }

  paused(): string[] {
    const now = performance.now();
    return [...this.#pauses].filter(([, { until }]) => until > now).map(([namespace]) => namespace);
  }
}
