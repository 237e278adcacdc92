// Two clocks, compared by a question that both stamp: what the way takes is no skew.
import { Problem } from "./check.js";

/** Leases, spans and certificates bear this much. */
const BEARABLE_MS = 5_000;

/** `theirs` was read between `before` and `after`, both read here; all in milliseconds. */
export function compareClocks(before: number, theirs: number, after: number): string {
  const skewMs = Math.max(before - theirs, theirs - after, 0);
  if (skewMs <= BEARABLE_MS) return `within ${BEARABLE_MS / 1_000} s of this machine's`;
  const direction = theirs < before ? "behind" : "ahead of";
  const seconds = Math.round(skewMs / 1_000);
  throw new Problem("clockSkewed", `it is ${seconds} s ${direction} this machine's`);
}
