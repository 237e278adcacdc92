// The progress bar of a transfer: one line on stderr that is rewritten, on a terminal only.
import { writeOver } from "./output.js";
import { terminal } from "./terminal.js";
import type { Terminal } from "./terminal.js";

const WIDTH = 30;
/** The shortest time between two lines: a terminal may be slow. */
const EVERY_MS = 100;

/** Passes the pieces on. The line is removed at their end and after an error. */
export async function* withProgress<P extends Uint8Array>(
  name: string,
  totalBytes: number,
  pieces: AsyncIterable<P>,
  stream: NodeJS.WriteStream = process.stderr,
): AsyncGenerator<P> {
  if (!stream.isTTY || process.env["TERM"] === "dumb") {
    yield* pieces;
    return;
  }
  const startedAt = performance.now();
  let [bytes, shownAt] = [0, startedAt];
  try {
    for await (const piece of pieces) {
      yield piece;
      bytes += piece.length;
      const now = performance.now();
      if (now - shownAt < EVERY_MS) continue;
      shownAt = now;
      writeOver(stream, progressLine({ name, bytes, totalBytes, elapsedMs: now - startedAt }));
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

/** `letter.pdf [=====.....] 50 % 250/500 MB, 120 MB/s, 3 s left` */
export function progressLine({ name, bytes, totalBytes, elapsedMs }: Progress): Terminal {
  const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  const bar = "=".repeat(Math.floor(share * WIDTH)).padEnd(WIDTH, ".");
  const bytesPerMs = bytes / Math.max(1, elapsedMs);
  const left = Math.ceil((totalBytes - bytes) / Math.max(1e-9, bytesPerMs) / 1000);
  const percent = String(Math.floor(share * 100)).padStart(3, " ");
  const [done, total] = [megabytes(bytes), megabytes(totalBytes)];
  return terminal`${shortened(name)} [${bar}]${percent} % ${done}/${total} MB, ${megabytes(bytesPerMs * 1000)} MB/s, ${left} s left`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0);
}

/** A longer line would wrap, and could not be rewritten. */
function shortened(name: string): string {
  return name.length <= 24 ? name : `…${name.slice(-23)}`;
}
