// Arguments of the client that TypeScript refuses and JavaScript lets through.
import { processes } from "../contracts/registry.js";
import { suggestionFor } from "../contracts/shared/nearest.js";
import { wrongArgument } from "../errors/arguments.js";
import type { InvalidInputError } from "../errors/index.js";

export function objectArgument<T extends object>(given: T, path: string): T {
  if (typeof given === "object" && given !== null) return given;
  throw wrongArgument(path, "must be an object");
}

/** By a member that it must have: an application may have a second copy of the library, with other classes. */
export function refuseUnlessTemporal(given: unknown, member: string, path: string): void {
  if (typeof (Object(given) as Record<string, unknown>)[member] !== "object")
    throw wrongArgument(path, `must be a ${path} of @temporalio/client`);
}

export function refuseUnlessText(given: unknown, path: string): void {
  if (typeof given !== "string") throw wrongArgument(path, "must be a text");
}

export function refuseUnlessProcess(name: string): void {
  refuseUnlessText(name, "process");
  const known: readonly string[] = processes;
  if (!known.includes(name)) throw wrongArgument("process", notAProcess(name));
}

export function refuseUnlessKnown(given: unknown, known: readonly string[], path: string): void {
  if (!known.includes(given as string))
    throw wrongArgument(path, `must be one of ${known.join(", ")}`);
}

export function unknownMember(
  given: object,
  known: readonly string[],
  path: string,
): InvalidInputError | undefined {
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return undefined;
  return wrongArgument(`${path}.${name}`, `is not known; ${suggestionFor(name, known)}`);
}

export function notAProcess(name: string): string {
  return `"${name}" is not a process; ${suggestionFor(name, processes)}`;
}
