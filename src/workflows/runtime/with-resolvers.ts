// A promise that something else settles (Node 20 has no Promise.withResolvers).
export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

export function withResolvers<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
