// A promise that something else settles (Node 20 has no Promise.withResolvers).
export interface Deferred<T> {
  promise: Promise<T>;
  settle(value: T): void;
}

export function deferred<T>(): Deferred<T> {
  let settle!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
