// Reading what went wrong out of a failed activity.
import { ApplicationFailure } from "@temporalio/workflow";
import type { Problem } from "../../contracts/shared/failures.js";

/** The problem of the failure itself or, behind a timeout, of the last attempt; undefined where no attempt said one. */
export function problemIn(error: unknown): Problem | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ApplicationFailure) return (at.details as [Problem?] | undefined)?.[0];
  }
  return undefined;
}
