// Limits of the activities of a batch: how long an attempt goes on, and how far a total moves before it is news.
import { NotChangedYet } from "../runtime/failure.js";

const LONGEST_ATTEMPT_MS = 20 * 60_000;
const MOVED_SHARE = 0.04;

/** To call before each piece of work: throws `NotChangedYet` once the attempt is long enough, and the next one continues. */
export function attemptLimit(): () => void {
  const began = performance.now();
  return () => {
    if (performance.now() - began > LONGEST_ATTEMPT_MS) throw new NotChangedYet(1);
  };
}

/** By how much a total must differ: 4 % of the recipients, so that a batch of any size has as many answers. */
export function leastMove(recipients: number): number {
  return Math.max(1, MOVED_SHARE * recipients);
}
