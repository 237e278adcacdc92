// How the commands of a page, and what they print, are read.
import { expect, test } from "vitest";
import { isThere, pages } from "./repository.js";
import { exceptions, exceptionTo } from "./exceptions.js";
import { difference, nameOf, shellBlocks } from "./shell-blocks.js";
import type { ShownCommand } from "./shell-blocks.js";
import { guides } from "../long/docs/guides.js";

test.each([
  ["another line", "a b", "a c\n"],
  ["a line more", "a", "a\nb\n"],
  ["a line less", "a\nb", "a\n"],
  ["any text within the line only", "at … done", "at\ndone\n"],
  ["signs of patterns, not the text", "1.5", "1x5\n"],
])("what is shown is not what is printed: %s", (_, shown, printed) => {
  expect(difference(shown, printed)).toBeDefined();
});

test("each page of which a command is run has one guide", () => {
  const isRun = (page: string, command: ShownCommand) => {
    const exception = exceptionTo(page, command);
    return exception === undefined || exception.instead !== undefined;
  };
  const read = pages.filter((page) =>
    shellBlocks(page).some(({ commands }) => commands.some((command) => isRun(page, command))),
  );
  expect(guides.map(({ page }) => page).toSorted()).toEqual(read.toSorted());
});

test("exceptions.ts names commands of the pages, all that are marked as elsewhere, and tests that are there", () => {
  const shown = pages.flatMap((page) =>
    shellBlocks(page).flatMap(({ commands, isElsewhere }) =>
      commands.map((command) => ({ name: `${page}: ${nameOf(command)}`, isElsewhere })),
    ),
  );
  const named = exceptions.map(({ page, command }) => `${page}: ${command}`);
  expect(named.filter((name) => !shown.some((command) => command.name === name))).toEqual([]);
  const elsewhere = shown.filter(({ isElsewhere }) => isElsewhere).map(({ name }) => name);
  expect(elsewhere.filter((name) => !named.includes(name))).toEqual([]);
  const tests = exceptions.flatMap(({ coveredBy = [] }) => coveredBy);
  expect(tests.filter((path) => !isThere(path))).toEqual([]);
});
