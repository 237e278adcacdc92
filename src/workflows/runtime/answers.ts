// An update's own call never raises attention: what goes wrong is its answer (docs/design.md §2, docs/reading-the-specification.md §9).
import { ActivityFailure, TimeoutFailure } from "@temporalio/workflow";
import { problemIn } from "./problem.js";

/** `unknown` where the provider may have acted, else `unavailable`: try again. */
export async function answerTo<T>(
  call: () => Promise<T>,
): Promise<T | { answer: "unknown" | "unavailable" }> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // Behind a timeout stands what an attempt before it met, and that proves nothing of the last one.
    const kind = error.cause instanceof TimeoutFailure ? undefined : problemIn(error)?.kind;
    return { answer: kind === undefined || kind === "unknownOutcome" ? "unknown" : "unavailable" };
  }
}
