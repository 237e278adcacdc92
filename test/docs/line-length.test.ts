// Prose is wrapped: no line of a page or of a comment is longer than 140 characters, but for tables and code. oxfmt's `proseWrap`
// would wrap pages, but it pads each table to its longest cell, which doubles some pages and changes whole tables for one cell.
import { expect, test } from "@jest/globals";
import { files, pages, textOf } from "./repository.js";

const MAX = 140;

const isRow = (text: string) => /^\s*\|/.test(text);

/** Where a line of prose is too long. */
function longIn(text: string): number[] {
  let fence: string | undefined;
  return text.split("\n").flatMap((line, index) => {
    const [mark] = /^\s*(?:```+|~~~+)/.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark?.trim().startsWith(fence)) fence = undefined;
      return [];
    }
    fence = mark?.trim();
    return fence === undefined && line.length > MAX && !isRow(line) ? [index + 1] : [];
  });
}

/** The same for a file of code: only its comments. */
function longCommentsIn(code: string): number[] {
  return code.split("\n").flatMap((line, index) => {
    const [, text] = /^\s*(?:\/\/|\/\*\*?|\*)(.*)$/.exec(line) ?? [];
    return text !== undefined && line.length > MAX && !isRow(text) ? [index + 1] : [];
  });
}

const found = (paths: string[], find: (text: string) => number[]) =>
  paths.flatMap((path) => find(textOf(path)).map((line) => `${path}:${line}`));

test("long prose is found; long tables and code are ignored", () => {
  const long = "word ".repeat(30);
  const page = [
    long,
    `| ${long}|`,
    "```sh",
    long,
    "```",
    long,
    "  ```",
    long,
    "  ```",
    `- ${long}`,
  ];
  expect(longIn(page.join("\n"))).toEqual([1, 6, 10]);
  const code = [
    `// ${long}`,
    `  // | ${long}|`,
    `  /** ${long} */`,
    ` * ${long}`,
    `call("${long}")`,
  ];
  expect(longCommentsIn(code.join("\n"))).toEqual([1, 3, 4]);
});

test("no line of a page is too long", () => {
  expect(found(pages, longIn)).toEqual([]);
});

test("no line of a comment is too long", () => {
  const code = files.filter((path) => /\.(ts|js|mjs|cjs)$/.test(path));
  expect(code.length).toBeGreaterThan(500);
  expect(found(code, longCommentsIn)).toEqual([]);
});
