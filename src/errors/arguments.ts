// Arguments that TypeScript refuses and JavaScript lets through.
import { InvalidInputError } from "./process/invalid-input-error.js";

export function wrongArgument(path: string, problem: string): InvalidInputError {
  return new InvalidInputError([{ path, problem }]);
}

/** `given`: what may be iterated, also asynchronously. */
export function refuseUnlessIterable(given: unknown, path: string, problem: string): void {
  const from = Object(given) as Partial<Iterable<unknown> & AsyncIterable<unknown>>;
  if (typeof (from[Symbol.asyncIterator] ?? from[Symbol.iterator]) !== "function")
    throw wrongArgument(path, problem);
}
