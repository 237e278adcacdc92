// Wakes the relay by a notification or a timer. Wakes without a waiter are kept as one.

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
