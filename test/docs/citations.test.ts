// What the repository cites of its own design and of its reading of the specification is there, under the number that is cited;
// and it cites no document that it does not hold.
import { expect, test } from "vitest";
import { files, textOf } from "./repository.js";

const pages = ["docs/design.md", "docs/reading-the-specification.md"] as const;
const texts = files.filter(
  (path) => !/\.(pdf|png|bin|gz|zip)$|^test\/(fixtures|replay\/[^/]+)\/|citations\.test/.test(path),
);

/** Written by name of a note, such as `NOTES §3`; the specification's documents and RFCs have a digit. */
const unheld = /\b[A-Z]{4,}(?:\.md)? (?:§|of P[12] §)/g;

const number = String.raw`\d+(?:\.\d+)*`;
const citation = new RegExp(
  String.raw`\b(design|reading-the-specification)\.md §(${number}(?:(?:–|, §| and §)${number})*)`,
  "g",
);

/** A link has its number in its text. */
function citedIn(text: string): string[] {
  return [...text.matchAll(citation)].flatMap(([, page = "", list = ""]) =>
    list.split(/–|, §| and §/).map((section) => `docs/${page}.md §${section}`),
  );
}

const headings = new Set(
  pages.flatMap((page) =>
    [...textOf(page).matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, found]) => `${page} §${found}`),
  ),
);

test("every cited section is a heading of its page", () => {
  const cited = texts.flatMap((path) => citedIn(textOf(path)).map((one) => ({ path, one })));
  expect(cited.length).toBeGreaterThan(100);
  expect(cited.filter(({ one }) => !headings.has(one))).toEqual([]);
});

test("nothing cites a document that the repository does not hold", () => {
  expect("as NOTES §3 says").toMatch(unheld);
  expect(
    texts.flatMap((path) => (textOf(path).match(unheld) ?? []).map((one) => `${path}: ${one}`)),
  ).toEqual([]);
});
