/** The items up to the abort. What is asked for at that moment is not waited for. */
export async function* untilAborted<T>(
  signal: AbortSignal,
  items: AsyncIterable<T>,
): AsyncGenerator<T> {
  if (signal.aborted) return;
  const iterator = items[Symbol.asyncIterator]();
  let end: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
  signal.addEventListener("abort", end);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", end);
    void iterator.return?.().catch(() => undefined);
  }
}
