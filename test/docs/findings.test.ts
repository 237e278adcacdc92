// Tables of docs/operations both ways: the findings of `trustflow doctor` and the reasons for parking a callback; and each
// finding against its tests.
import { expect, test } from "vitest";
import { parkReasons } from "../../src/callbacks/inbox/rows.js";
import { findings } from "../../src/cli/doctor/findings.js";
import { files, namedRows, textOf } from "./repository.js";

test("every finding has one row, with its state and its remedy", () => {
  const rows = namedRows(textOf("docs/operations/doctor.md"))
    .filter((cells) => cells.length === 4 && /^(warn|fail)$/.test(cells[1] ?? ""))
    .map(([name, state, , mend]) => ({ name, state, mend }));
  expect(rows).toEqual(Object.entries(findings).map(([name, remedy]) => ({ name, ...remedy })));
});

test("every reason for parking a callback has one row", () => {
  const rows = namedRows(textOf("docs/operations/callbacks.md").split("\n## ")[0] ?? "");
  expect(rows.map(([reason]) => reason)).toEqual(parkReasons);
});

test("every finding is found by a test", () => {
  const tests = files
    .filter((path) =>
      /^test\/((long\/)?cli\/doctor.*|postgres\/durability|long\/e2e\/stuck)\.test\.ts$/.test(path),
    )
    .map(textOf);
  const untested = Object.keys(findings).filter((name) => !tests.join("").includes(`"${name}"`));
  expect(untested).toEqual([]);
});
