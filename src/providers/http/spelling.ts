// Members and words that the specification does not show, read by any name that the account's configuration gives them. Case,
// `_`, `-` and blanks do not matter: two such spellings cannot mean two things.
import { isSameSpelling } from "../../contracts/shared/values.js";

export interface Spelling {
  /** Of each member its names; the first one that is there counts. */
  members: Readonly<Record<string, readonly string[]>>;
  /** Of each word of `state` its names; any other word passes as it came. */
  words?: Readonly<Record<string, readonly string[]>>;
}

/** Stands for a member that is present in two spellings, with different values. */
export const AMBIGUOUS = Symbol("ambiguous");

/** The value with its members, and those of objects in lists, under our names; everything else stays as it came. */
export function spelled(value: unknown, spelling: Spelling): unknown {
  if (Array.isArray(value)) return value.map((one) => spelled(one, spelling));
  if (typeof value !== "object" || value === null) return value;
  const own = Object.entries(spelling.members).flatMap(([name, names]) => {
    const found = names.map((one) => valuesOf(value, one)).find((values) => values.length > 0);
    if (!found) return [];
    const [first] = found;
    const isOne = new Set(found.map((one) => JSON.stringify(one))).size === 1;
    return [[name, isOne ? inOurWords(name, first, spelling) : AMBIGUOUS] as const];
  });
  return { ...value, ...Object.fromEntries(own) };
}

function inOurWords(name: string, value: unknown, spelling: Spelling): unknown {
  if (Array.isArray(value)) return spelled(value, spelling);
  if (name !== "state" || typeof value !== "string") return value;
  const words = Object.entries(spelling.words ?? {});
  return words.find(([, names]) => names.some((one) => isSameSpelling(one, value)))?.[0] ?? value;
}

function valuesOf(value: object, name: string): unknown[] {
  return Object.entries(value).flatMap(([given, one]) =>
    one !== null && isSameSpelling(given, name) ? [one] : [],
  );
}
