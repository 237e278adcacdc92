// Members and words that the specification does not show, read by any name that the account's configuration gives them. Case,
// `_`, `-` and blanks do not matter: two such spellings cannot mean two things.
import { isSameSpelling, plainSpelling } from "../../contracts/shared/values.js";

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
  const plainNames = Object.entries(spelling.members).map(
    ([name, names]): PlainNames => [name, names.map((one) => plainSpelling(one))],
  );
  return inOurNames(value, plainNames, spelling);
}

/** Our name of a member, and all its names as `plainSpelling` has them: an answer may hold thousands of objects. */
type PlainNames = readonly [string, readonly string[]];

function inOurNames(value: unknown, plainNames: PlainNames[], spelling: Spelling): unknown {
  if (Array.isArray(value)) return value.map((one) => inOurNames(one, plainNames, spelling));
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value)
    .filter(([, one]) => one !== null)
    .map(([name, one]) => [plainSpelling(name), one as unknown] as const);
  const own: Record<string, unknown> = {};
  for (const [name, names] of plainNames) {
    const known = names.find((one) => given.some(([plain]) => plain === one));
    if (known === undefined) continue;
    const [first, ...more] = given.filter(([plain]) => plain === known).map(([, one]) => one);
    const isOne = more.every((one) => JSON.stringify(one) === JSON.stringify(first));
    own[name] = isOne ? inOurWords(name, first) : AMBIGUOUS;
  }
  return { ...value, ...own };

  function inOurWords(name: string, one: unknown): unknown {
    if (Array.isArray(one)) return inOurNames(one, plainNames, spelling);
    if (name !== "state" || typeof one !== "string") return one;
    const words = Object.entries(spelling.words ?? {});
    return words.find(([, names]) => names.some((word) => isSameSpelling(word, one)))?.[0] ?? one;
  }
}
