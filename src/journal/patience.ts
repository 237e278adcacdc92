// PostgreSQL may be unavailable at any moment. Before a send that is an error; after a send the write is retried.
import { JournalError, JournalUnavailable } from "./errors.js";

/** Retries with growing pauses for `patienceMs`, so that an outcome is not lost while the database is away for a moment. */
export async function retryFor<T>(work: () => Promise<T>, patienceMs: number): Promise<T> {
  const clocks = startClocks();
  for (let pause = 50; ; pause = Math.min(pause * 2, 2_000)) {
    try {
      return await work();
    } catch (error) {
      if (clocks.elapsed() + pause > patienceMs) throw new JournalUnavailable(error);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

export async function asUnavailable<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw error instanceof JournalError ? error : new JournalUnavailable(error);
  }
}

/** Whether a statement that failed may have been committed: not if there was no connection. */
export function mayHaveCommitted(error: unknown): boolean {
  const { syscall, message } = error as { syscall?: unknown; message?: unknown };
  return syscall !== "connect" && message !== "timeout exceeded when trying to connect";
}

/** Elapsed time by the larger of two clocks, because a machine that was asleep or stopped shows it on only one of them. */
export function startClocks(): { elapsed(): number } {
  const wall = Date.now();
  const monotonic = performance.now();
  return { elapsed: () => Math.max(Date.now() - wall, performance.now() - monotonic) };
}

export function throwIf(error: Error | undefined): void {
  if (error) throw error;
}
