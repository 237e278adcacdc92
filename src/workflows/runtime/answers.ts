// An update's own call never raises attention; its error becomes the answer of the update (docs/design.md §2,
// docs/reading-the-specification.md §9).
import { ActivityFailure, TimeoutFailure } from "@temporalio/workflow";
import { problemIn } from "./problem.js";

/** Answers `unknown` when the provider may have acted, else `unavailable`: the caller may try again. */
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
