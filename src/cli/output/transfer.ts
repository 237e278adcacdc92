// A transfer that shows its progress, and that leaves nothing half-written if a signal ends the command.
import { withProgress } from "./progress.js";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Source {
  name: string;
  totalBytes: number;
  pieces: AsyncIterable<Buffer>;
}

/**
 * `store` takes all pieces. After a signal the next piece is an error, so `store` deletes its unfinished file; then the signal ends
 * the command. A second signal ends it at once.
 */
export async function transfer<T>(
  { name, totalBytes, pieces }: Source,
  store: (pieces: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    received = signal;
    stop.abort();
    unlisten();
  };
  const unlisten = () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await store(withProgress(name, totalBytes, until(stop.signal, pieces)));
  } finally {
    unlisten();
    if (received) process.kill(process.pid, received);
  }
}

async function* until(stop: AbortSignal, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    stop.throwIfAborted();
    yield piece;
  }
}
