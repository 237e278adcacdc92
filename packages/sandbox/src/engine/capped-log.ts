// The newest entries of a log; the oldest make way.

/** Of the logs of callbacks and of requests. */
export const LOG_SIZE = 2_000;

export class CappedLog<T> {
  readonly #cap: number;
  #entries: T[] = [];
  #total = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  add(entry: T): void {
    this.#total += 1;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#cap) this.#entries = this.#entries.slice(-this.#cap);
  }

  get total(): number {
    return this.#total;
  }

  list(): T[] {
    return this.#entries.slice(-this.#cap);
  }

  clear(): void {
    this.#entries = [];
    this.#total = 0;
  }
}
