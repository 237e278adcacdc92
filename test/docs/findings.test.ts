// The table of docs/operations.md against the findings of `trustflow doctor`, both ways; and each finding against its tests.
import { expect, test } from "@jest/globals";
import { findings } from "../../src/cli/doctor/findings.js";
import { files, namedRows, textOf } from "./repository.js";

test("every finding has one row, with its state and its remedy", () => {
  const rows = namedRows(textOf("docs/operations.md"))
    .filter((cells) => cells.length === 4 && /^(warn|fail)$/.test(cells[1] ?? ""))
    .map(([name, state, , mend]) => ({ name, state, mend }));
  expect(rows).toEqual(Object.entries(findings).map(([name, remedy]) => ({ name, ...remedy })));
});

test("every finding is found by a test", () => {
  const tests = files.filter((path) => /^test\/cli\/doctor.*\.test\.ts$/.test(path)).map(textOf);
  const untested = Object.keys(findings).filter((name) => !tests.join("").includes(`"${name}"`));
  expect(untested).toEqual([]);
});
