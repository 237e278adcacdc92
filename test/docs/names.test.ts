// The words of docs/glossary.md in the code: names that were given up stay away, and names follow one convention.
import { expect, test } from "@jest/globals";
import { files, pages, textOf } from "./repository.js";

const own = "test/docs/names.test.ts";
const code = files.filter(
  (path) => /^(src|test|bench|scripts)\/.*\.(ts|js|mjs)$/.test(path) && path !== own,
);

/** Names that nobody could have guessed; docs/glossary.md has the words that stand for them now. */
const retired = [
  ...["Surroundings", "PostOffice", "SigningDesk", "EnvelopeDesk", "NotAsked", "NothingNew"],
  ...["parksAtOnce", "heedClaims", "ownClaims", "claimEnd", "unaskedEnd", "lastHeard"],
  ...["sideBySide", "rung", "Bell", "killWithUs", "removeWithUs", "letGo", "heir", "twoOwners"],
  ...["asAsked", "outOfReach", "waysOf", "walkPaths"],
];

/** Words of everyday English: given up as names of types, free in a sentence. */
const retiredTypes = [
  ...["Office", "Way", "Question", "Unchanged", "Chronicle", "Attempt", "Walk"],
  ...["Performance", "Standing", "Past", "Asked", "Found", "Tried", "Everywhere"],
];

const found = (pattern: RegExp, paths = code) =>
  paths.flatMap((path) =>
    [...textOf(path).matchAll(pattern)].map(([match]) => `${path}: ${match.trim()}`),
  );

test("a name that was given up does not come back", () => {
  expect(found(new RegExp(`\\b(${retired.join("|")})\\b`, "g"), [...code, ...pages])).toEqual([]);
  const types = retiredTypes.join("|");
  const declared = `^(export )?(type|interface|class) (${types})\\b|\\bas (${types})\\b(?= ?[,}])`;
  expect(found(new RegExp(declared, "gm"))).toEqual([]);
});

test("nothing is called process beside Node's", () => {
  const declared = /\b(const|let) process\b|[{[,]\s*process\s*[,}\]]|\(process(\??:|\) =>)/g;
  expect(found(declared)).toEqual([]);
});

test("a number fixed at the top of a file is UPPER_CASE", () => {
  const number = String.raw`^(export )?const [a-z]\w*(: number)? = -?[\d_.]+( [*+/-] [\w.]+)*;`;
  expect(found(new RegExp(number, "gm"))).toEqual([]);
});
