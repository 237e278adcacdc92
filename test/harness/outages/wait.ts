// Waiting for a condition instead of for a time.
import { setTimeout as delay } from "node:timers/promises";
import { StuckError, UnreachableError } from "../../../src/errors/index.js";

/**
 * No worker is there, it went away with the question, or too many questions wait for it. Or the connection was closed with
 * the question under way: the Temporal server closes each connection after five minutes. No process may be called stuck.
 */
export function isUnanswered(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? error) as { code?: number };
  if (error instanceof StuckError) return false;
  return error instanceof UnreachableError || [1, 4, 8, 9, 14].includes(code ?? 0);
}

/** The first value that is not undefined, false or null; fails after the limit, naming what was waited for. */
export async function eventually<T>(
  what: string | (() => string),
  look: () => Promise<T | undefined | false | null> | T | undefined | false | null,
  limitMs = 30_000,
  everyMs = 100,
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await delay(everyMs)) {
    const seen = await look();
    if (seen !== undefined && seen !== false && seen !== null) return seen;
    if (Date.now() > end)
      throw new Error(`not within ${limitMs} ms: ${typeof what === "string" ? what : what()}`);
  }
}

/** What must happen before the test's time is over. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(condition.toString(), condition, 50_000, 10);
}
