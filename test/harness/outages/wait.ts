// Waiting for a condition instead of for a time.
import { setTimeout as delay } from "node:timers/promises";

/** The first value that is not undefined, false or null; fails after the limit, naming what was waited for. */
export async function eventually<T>(
  what: string | (() => string),
  look: () => Promise<T | undefined | false | null> | T | undefined | false | null,
  limitMs = 30_000,
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await delay(100)) {
    const seen = await look();
    if (seen !== undefined && seen !== false && seen !== null) return seen;
    if (Date.now() > end)
      throw new Error(`not within ${limitMs} ms: ${typeof what === "string" ? what : what()}`);
  }
}
