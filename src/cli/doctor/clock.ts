// Compares two clocks by a timestamp of the other machine; the duration of the call does not count as a difference.
import { Problem } from "./check.js";

/** Leases, time spans and certificates tolerate this difference. */
const BEARABLE_MS = 5_000;

/** `theirs` was read between `before` and `after`, which are times of this machine; all in milliseconds. */
export function compareClocks(before: number, theirs: number, after: number): string {
  const skewMs = Math.max(before - theirs, theirs - after, 0);
  if (skewMs <= BEARABLE_MS) return `within ${BEARABLE_MS / 1_000} s of this machine's`;
  const direction = theirs < before ? "behind" : "ahead of";
  const seconds = Math.round(skewMs / 1_000);
  throw new Problem("clockSkewed", `it is ${seconds} s ${direction} this machine's`);
}
