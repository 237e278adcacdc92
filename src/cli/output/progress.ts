// A transfer that leaves nothing half-written if a signal ends the command, and its progress bar: one line on stderr that is
// rewritten, on a terminal only.
import { bar } from "../../contracts/shared/text.js";
import { writeOver } from "./output.js";
import { isLive, terminal } from "./terminal.js";
import type { Terminal } from "./terminal.js";

const WIDTH = 30;
/** Used where a terminal does not say how wide it is. */
const DEFAULT_COLUMNS = 80;
const MAX_NAME = 24;
/** The shortest time between two lines: a terminal may be slow. */
const EVERY_MS = 100;

/** Passes the pieces on. The line is removed at their end and after an error. */
export async function* withProgress<P extends Uint8Array>(
  name: string,
  totalBytes: number,
  pieces: AsyncIterable<P>,
  stream: NodeJS.WriteStream = process.stderr,
): AsyncGenerator<P> {
  if (!isLive(stream)) return yield* pieces;
  const startedAt = performance.now();
  let [bytes, shownAt] = [0, startedAt];
  try {
    for await (const piece of pieces) {
      yield piece;
      bytes += piece.length;
      const now = performance.now();
      if (now - shownAt < EVERY_MS) continue;
      shownAt = now;
      const progress = { name, bytes, totalBytes, elapsedMs: now - startedAt };
      writeOver(stream, progressLine(progress, stream.columns || DEFAULT_COLUMNS));
    }
  } finally {
    writeOver(stream, terminal``);
  }
}

interface Progress {
  name: string;
  bytes: number;
  totalBytes: number;
  elapsedMs: number;
}

/**
 * `letter.pdf [=====.....] 50 % 250/500 MB, 120 MB/s, 3 s left`. The line is shorter than the terminal is wide: a longer one would
 * wrap, and could not be rewritten.
 */
export function progressLine(
  { name, bytes, totalBytes, elapsedMs }: Progress,
  columns: number,
): Terminal {
  const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  const bytesPerMs = bytes / Math.max(1, elapsedMs);
  const missing = Math.max(0, totalBytes - bytes);
  const left = Math.ceil(missing / Math.max(1e-9, bytesPerMs) / 1000);
  const [done, total] = [megabytes(bytes), megabytes(totalBytes)];
  const figures = `${done}/${total} MB, ${megabytes(bytesPerMs * 1000)} MB/s, ${left} s left`;
  const most = columns - 1;
  const width = Math.min(WIDTH, most - MAX_NAME - figures.length - "  [] 100 % ".length);
  if (width < 1) return terminal`${`${Math.floor(share * 100)} % ${figures}`.slice(0, most)}`;
  return terminal`${shortened(name)} ${bar(share, width)} ${figures}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0);
}

function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME)}`;
}

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
  return untilSignal((isStopped) =>
    store(withProgress(name, totalBytes, until(isStopped, pieces))),
  );
}

/** Work that ends in order after a signal; then the signal ends the command. A second signal ends it at once. */
export async function untilSignal<T>(work: (isStopped: () => boolean) => Promise<T>): Promise<T> {
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    received = signal;
    unlisten();
  };
  const unlisten = () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work(() => received !== undefined);
  } finally {
    unlisten();
    if (received) process.kill(process.pid, received);
  }
}

async function* until(
  isStopped: () => boolean,
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    if (isStopped()) throw new Error("ended by a signal");
    yield piece;
  }
}
