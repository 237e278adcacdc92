import { InvalidInputError } from "trustflow-client";

/** By the client's own class: an application compares with that one. */
export function wrongArgument(path: string, problem: string): InvalidInputError {
  return new InvalidInputError([{ path, problem }]);
}
