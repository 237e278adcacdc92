// The benchmark itself, in its shortest form: it runs, says what it measured, and what does not depend on the machine's speed
// is as docs/design.md §12 wants it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import type { Measure } from "../../../bench/measure.js";

test("one document with each measure, its goal and its ratio", async () => {
  const args = ["bench/run.ts", "--only", "history", "--quick", "--json"];
  const loader = ["--import", "./scripts/typescript.mjs"];
  const { stdout } = await promisify(execFile)(process.execPath, [...loader, ...args]);
  const { machine, versions, measures } = JSON.parse(stdout) as Record<string, object> & {
    measures: Measure[];
  };
  expect(Object.keys(machine ?? {})).toContain("cores");
  expect(Object.keys(versions ?? {})).toContain("temporalServer");
  const byName = Object.fromEntries(measures.map((measure) => [measure.name, measure]));
  for (const name of ["events-burst", "events-spaced", "actions-burst", "actions-spaced"])
    expect(byName[name]).toMatchObject({ met: true, ratio: expect.any(Number) });
  expect(byName["duplicates"]).toMatchObject({ trustflow: 0, met: true });
}, 180_000);
