/** What one side puts in, the other takes out, in order; whoever takes waits. */
export class Channel<T> {
  readonly #items: T[] = [];
  readonly #takers: { resolve(item: T): void; reject(error: Error): void }[] = [];
  #end: Error | undefined;

  put(item: T): void {
    const taker = this.#takers.shift();
    if (taker) taker.resolve(item);
    else this.#items.push(item);
  }

  take(): Promise<T> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve(item);
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => this.#takers.push({ resolve, reject }));
  }

  /** Who takes when nothing is left gets `error`. */
  end(error: Error): void {
    this.#end = error;
    for (const { reject } of this.#takers.splice(0)) reject(error);
  }
}
