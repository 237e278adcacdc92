// An id as one segment of a path.
import type { ProviderOperation } from "../effect-classes.js";
import { misuseError } from "./answer.js";

/**
 * Fills the id into the place of `{name}`. An id that would make another path of it, or that no URL can hold, is never sent: `protocol`.
 */
export function filledPath(
  asked: ProviderOperation,
  path: string,
  name: string,
  id: string,
): string {
  if (/^\.{0,2}$|\p{Surrogate}/u.test(id))
    throw misuseError(asked, `this ${name} cannot be part of a path`);
  return path.replaceAll(`{${name}}`, () => encodeURIComponent(id));
}
