// Members and words that the specification does not show, read by any name that the account's configuration gives them. Case,
// `_`, `-` and blanks do not matter: two such spellings cannot mean two things.
import { isSameSpelling, plainSpelling } from "../../contracts/shared/values.js";

export interface Spelling {
  /** Each member may have several names; the first one that is there counts. */
  members: Readonly<Record<string, readonly string[]>>;
  /** Each word of `state` may have several names; any other word passes as it came. */
  words?: Readonly<Record<string, readonly string[]>>;
}

/** Stands for a member that is present in two spellings, with different values. */
export const AMBIGUOUS = Symbol("ambiguous");

/** The value with its members, and those of objects in lists, under our names; everything else stays as it came. */
export function spelled(value: unknown, spelling: Spelling): unknown {
  return new Speller(spelling).spelled(value);
}

/** A name of one of our members, and its place among the names of that member. */
interface KnownName {
  member: string;
  place: number;
}

interface BestValue {
  place: number;
  value: unknown;
}

/** For one answer: it may hold thousands of objects with the same members. */
class Speller {
  readonly #spelling: Spelling;
  readonly #names = new Map<string, KnownName[]>();
  /** By the names that the answer has. */
  readonly #given = new Map<string, KnownName[]>();

  constructor(spelling: Spelling) {
    this.#spelling = spelling;
    for (const [member, names] of Object.entries(spelling.members))
      for (const [place, name] of names.map((one) => plainSpelling(one)).entries())
        this.#names.set(name, [...(this.#names.get(name) ?? []), { member, place }]);
  }

  spelled(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.spelled(one));
    if (typeof value !== "object" || value === null) return value;
    const object = value as Record<string, unknown>;
    const found = new Map<string, BestValue>();
    for (const given of Object.keys(object))
      for (const name of this.#known(given)) note(found, name, object[given]);
    const inOurWords: Record<string, unknown> = {};
    for (const [member, { value: one }] of found)
      inOurWords[member] = this.#inOurWords(member, one);
    return { ...object, ...inOurWords };
  }

  #known(given: string): KnownName[] {
    const known = this.#given.get(given) ?? this.#names.get(plainSpelling(given)) ?? [];
    this.#given.set(given, known);
    return known;
  }

  #inOurWords(member: string, value: unknown): unknown {
    if (Array.isArray(value)) return this.spelled(value);
    if (member !== "state" || typeof value !== "string") return value;
    const words = Object.entries(this.#spelling.words ?? {});
    return words.find(([, names]) => names.some((one) => isSameSpelling(one, value)))?.[0] ?? value;
  }
}

/** The first of a member's names counts. */
function note(found: Map<string, BestValue>, { member, place }: KnownName, value: unknown): void {
  if (value === null) return;
  const before = found.get(member);
  if (!before || place < before.place) found.set(member, { place, value });
  else if (place === before.place && JSON.stringify(value) !== JSON.stringify(before.value))
    before.value = AMBIGUOUS;
}
