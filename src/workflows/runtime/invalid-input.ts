// A validator throws it for an invalid argument; it names the field, never its value.
import { ApplicationFailure } from "@temporalio/workflow";

export function invalidInput(path: string, problem: string): ApplicationFailure {
  const fields = [{ path, problem }];
  const message = `Invalid input: ${path} ${problem}`;
  return ApplicationFailure.nonRetryable(message, "InvalidInput", { fields });
}

/** Returns none if a plain client sent nothing; throws if it sent no object. */
export function membersOf(argument: unknown): Record<string, unknown> {
  const given = argument ?? {};
  if (typeof given === "object" && !Array.isArray(given)) return given as Record<string, unknown>;
  throw invalidInput("(argument)", "must be an object");
}
