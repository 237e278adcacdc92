// Batches items: while `inFlight` batches are in progress, new items wait for the next batch.

export interface Batcher<T, R = void> {
  /** Settles with the batch that carried the item; returns what `flush` has returned at the item's place. */
  add(item: T): Promise<R>;
  /** When everything added so far has been settled. */
  drained(): Promise<void>;
}

export function batcher<T, R = void>(
  flush: (items: T[]) => Promise<R[]>,
  options: { inFlight: number; maxItems: number },
): Batcher<T, R> {
  let waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  let running = 0;
  let pending = 0;
  let scheduled = false;
  let idle: (() => void)[] = [];

  const schedule = (): void => {
    if (running >= options.inFlight || waiting.length === 0) return;
    // A flood of requests can keep this turn of the event loop busy for seconds, so a full batch is sent within it.
    if (waiting.length >= options.maxItems) return void run();
    if (scheduled) return;
    scheduled = true;
    // Items of the same turn of the event loop still join this batch.
    setImmediate(() => {
      scheduled = false;
      if (running < options.inFlight) void run();
    });
  };

  const run = async (): Promise<void> => {
    const batch = waiting.slice(0, options.maxItems);
    if (batch.length === 0) return;
    waiting = waiting.slice(options.maxItems);
    running += 1;
    schedule();
    try {
      const results = await flush(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      pending -= batch.length;
      schedule();
      if (pending === 0) {
        for (const resolve of idle) resolve();
        idle = [];
      }
    }
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        pending += 1;
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    drained: () =>
      pending === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
  };
}
