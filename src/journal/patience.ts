// PostgreSQL may be away at any moment: what that means before a send, and what is done about it after one.
import { JournalError, JournalUnavailable } from "./errors.js";

/** What is known now must not be lost to a database that is away for a moment. */
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

export async function reached<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw error instanceof JournalError ? error : new JournalUnavailable(error);
  }
}

/** Whether a statement that failed may have been committed all the same: not where no connection could be had. */
export function mayHaveRun(error: unknown): boolean {
  const { syscall, message } = error as { syscall?: unknown; message?: unknown };
  return syscall !== "connect" && message !== "timeout exceeded when trying to connect";
}

/** A machine that slept or stood still shows on one of the two clocks. */
export function startClocks(): { wall: number; elapsed(): number } {
  const wall = Date.now();
  const monotonic = performance.now();
  return { wall, elapsed: () => Math.max(Date.now() - wall, performance.now() - monotonic) };
}

export function throwIf(error: Error | undefined): void {
  if (error) throw error;
}
