// What code and pages cite of the specification is explained, and what can go wrong is in the page on errors.
import { expect, test } from "vitest";
import { attentionKinds, processFailures } from "../../src/contracts/shared/failures.js";
import { files, namedRows, pages, textOf } from "./repository.js";

const explained = new Set(
  [...textOf("docs/specification.md").matchAll(/^\| (P[12] §[\d.]+) +\|/gm)].map(
    ([, cited]) => cited,
  ),
);

/** `P2 §2.1–2.5, 4.1, 5` cites four sections and the ends of a span. */
function citedIn(text: string): string[] {
  const citations = /\b(P[12]) §(\d+(?:\.\d+)*(?:(?:–|, (?:§)?| and §)\d+(?:\.\d+)*(?![\w-]))*)/g;
  return [...text.matchAll(citations)].flatMap(([, document = "", list = ""]) =>
    [...list.matchAll(/\d+(?:\.\d+)*/g)].map(([section]) => `${document} §${section}`),
  );
}

test.each([
  ["sources", files.filter((path) => /^src\/.*\.(ts|js|cjs)$/.test(path))],
  [
    "tests",
    files.filter(
      (path) => /^(test|bench)\/.*\.ts$/.test(path) && !path.includes("specification.test"),
    ),
  ],
  ["pages", pages],
])("docs/specification.md explains every section that the %s cite", (_what, paths) => {
  const unexplained = paths.flatMap((path) =>
    citedIn(textOf(path))
      .filter((cited) => !explained.has(cited))
      .map((cited) => `${path}: ${cited}`),
  );
  expect(paths).not.toEqual([]);
  expect(unexplained).toEqual([]);
});

test("docs/errors.md has a row for every kind of attention and every failure of a process", () => {
  const rows = namedRows(textOf("docs/errors.md")).map(([first = ""]) => first.split(" ")[0]);
  for (const name of [...attentionKinds, ...processFailures]) expect(rows).toContain(name);
});
