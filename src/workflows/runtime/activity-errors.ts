// Reads the error of an activity: the problem for an attention, or the answer to an update; makes the error of a validator.
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "@temporalio/workflow";
import { problemsInWords } from "../../contracts/shared/failures.js";
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
    const { cause } = error;
    const isTimeout = cause instanceof TimeoutFailure;
    // No worker has begun it, so nothing was sent.
    if (isTimeout && cause.timeoutType === "SCHEDULE_TO_START") return { answer: "unavailable" };
    // The cause of another timeout is an earlier attempt's error, which proves nothing about the last attempt.
    const kind = isTimeout ? undefined : problemIn(error)?.kind;
    return { answer: kind === undefined || kind === "unknownOutcome" ? "unknown" : "unavailable" };
  }
}

/** A validator throws it for an invalid argument; it names the field, never its value. */
export function invalidInput(path: string, problem: string): ApplicationFailure {
  const fields = [{ path, problem }];
  const message = `Invalid input: ${problemsInWords(fields)}`;
  return ApplicationFailure.nonRetryable(message, "InvalidInput", { fields });
}

/** Refuses what the published schema does not have: nobody masks a secret beside a member that is not known. */
export function refuseUnknownMembers(argument: unknown, known: readonly string[]): void {
  const unknown = Object.keys(membersOf(argument)).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalidInput(unknown, "is not known");
}

/** Returns none if a plain client sent nothing; throws if it sent no object. */
export function membersOf(argument: unknown): Record<string, unknown> {
  const given = argument ?? {};
  refuseUnlessObject("(argument)", given);
  return given;
}

export function refuseUnlessObject(
  path: string,
  given: unknown,
): asserts given is Record<string, unknown> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalidInput(path, "must be an object");
}
