// Reads the error of an activity: the problem for an attention, or the answer to an update.
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "@temporalio/workflow";
import type { Problem } from "../../contracts/shared/failures.js";

/** Returns the problem of the failure itself or, after a timeout, that of the last attempt; undefined when no attempt reported one. */
export function problemIn(error: unknown): Problem | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ApplicationFailure) return (at.details as [Problem?] | undefined)?.[0];
  }
  return undefined;
}

/**
 * An update's own call never raises attention; its error becomes the answer of the update (docs/design.md §2,
 * docs/reading-the-specification.md §9): `unknown` when the provider may have acted, else `unavailable`: the caller may try again.
 */
export async function answerTo<T>(
  call: () => Promise<T>,
): Promise<T | { answer: "unknown" | "unavailable" }> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The cause of a timeout is an earlier attempt's error, which proves nothing about the last attempt.
    const kind = error.cause instanceof TimeoutFailure ? undefined : problemIn(error)?.kind;
    return { answer: kind === undefined || kind === "unknownOutcome" ? "unknown" : "unavailable" };
  }
}
