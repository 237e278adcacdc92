// What a validator throws at an argument that does not fit; the field is named, its value is not.
import { ApplicationFailure } from "@temporalio/workflow";

export function invalidInput(path: string, problem: string): ApplicationFailure {
  const fields = [{ path, problem }];
  const message = `Invalid input: ${path} ${problem}`;
  return ApplicationFailure.nonRetryable(message, "InvalidInput", { fields });
}

/** The members of an argument, which a plain client may have sent as anything; none when it sent nothing. */
export function membersOf(argument: unknown): Record<string, unknown> {
  const given = argument ?? {};
  if (typeof given === "object" && !Array.isArray(given)) return given as Record<string, unknown>;
  throw invalidInput("(argument)", "must be an object");
}
