// What a validator throws at an argument that does not fit; the field is named, its value is not.
import { ApplicationFailure } from "@temporalio/workflow";

export function invalidInput(path: string, problem: string): ApplicationFailure {
  const fields = [{ path, problem }];
  return ApplicationFailure.nonRetryable(`Invalid input: ${path}`, "InvalidInput", { fields });
}
