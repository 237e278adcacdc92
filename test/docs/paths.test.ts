// Every file, folder and page that the documents name is there.
import { describe, expect, test } from "vitest";
import { anchors, isThere, links, pages, quoted, textOf } from "./repository.js";

const topLevel = /^(src|test|docs|scripts|bench|examples|deploy|\.ci)(\/|$)/;
const fileName = /^(\.?[\w.<>-]+\/)*\.?[\w.<>-]+\.(ts|mjs|cjs|js|json|md|yml|sh)$/;
const inSource =
  /^(contracts|workflows|activities|providers|callbacks|journal|documents)\/[\w/-]+$/;

/** Written by the program or by its user: no part of the repository. */
const made = /^(\.trustflow|dist|artifacts)(\/|$)|^[\w-]+\.json$/;

/** `wire.ts` counts as there beside a folder that the same page names. */
function missingFrom(text: string): string[] {
  const named = quoted(text);
  const folders = ["", ...named.map((code) => code.replace(/[^/]+$/, "")).filter(Boolean)];
  return named
    .filter((code) => !made.test(code))
    .filter((code) => {
      if (inSource.test(code)) return !isThere(`src/${code}`) && !isThere(`src/${code}.ts`);
      if (topLevel.test(code) && !/\s/.test(code)) return !isThere(code);
      return fileName.test(code) && !folders.some((folder) => isThere(folder + code));
    });
}

describe.each(pages)("%s", (page) => {
  const text = textOf(page);

  test("names paths that are there", () => {
    expect(missingFrom(text)).toEqual([]);
  });

  test("links to pages and headings that are there", () => {
    for (const { path, anchor } of links(page)) {
      expect([path, isThere(path)]).toEqual([path, true]);
      if (anchor !== undefined) expect(anchors(path)).toContain(anchor);
    }
  });
});

test("README.md leads to every page", () => {
  const reached = links("README.md").map(({ path }) => path);
  const unreached = pages.filter(
    (page) =>
      page !== "README.md" && !reached.some((path) => page === path || page.startsWith(`${path}/`)),
  );
  expect(unreached).toEqual([]);
});

test.each([
  // A front page: the rest is behind its links.
  ["README.md", 100],
  ["docs/ARCHITECTURE.md", 150],
  ["CONTRIBUTING.md", 60],
])("%s has at most %i lines", (page, most) => {
  expect(textOf(page).split("\n").length - 1).toBeLessThanOrEqual(most);
});
