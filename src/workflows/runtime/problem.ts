// Reads the problem out of a failed activity.
import { ApplicationFailure } from "@temporalio/workflow";
import type { Problem } from "../../contracts/shared/failures.js";

/** The problem of the failure itself or, after a timeout, of the last attempt; undefined when no attempt reported one. */
export function problemIn(error: unknown): Problem | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ApplicationFailure) return (at.details as [Problem?] | undefined)?.[0];
  }
  return undefined;
}
