// The benchmark itself, in its shortest form: it runs, says what it measured, and what does not depend on the machine's speed
// is as docs/design.md §12 wants it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Measure } from "../../../bench/measure.js";

async function bench(...args: string[]) {
  const run = ["--import", "./scripts/typescript.mjs", "bench/run.ts", "--quick", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, [...run, ...args]);
  const { measures, ...about } = JSON.parse(stdout) as Record<string, object> & {
    measures: Measure[];
  };
  return { about, byName: Object.fromEntries(measures.map((one) => [one.name, one])) };
}

test("one document with each measure, its goal and its ratio", async () => {
  const { about, byName } = await bench("--only", "history");
  expect(Object.keys(about["machine"] ?? {})).toContain("cores");
  expect(Object.keys(about["versions"] ?? {})).toContain("temporalServer");
  for (const name of ["events-burst", "events-spaced", "actions-burst", "actions-spaced"])
    expect(byName[name]).toMatchObject({ met: true, ratio: expect.any(Number) });
  expect(byName["duplicates"]).toMatchObject({ trustflow: 0, met: true });
}, 180_000);

test("a batch ends with a report of all, its history is small, and no callback is lost", async () => {
  const sizes = ["--recipients", "50,200", "--notices", "10", "--callbacks", "1000"];
  const { byName } = await bench("--only", "batch", ...sizes);
  for (const name of ["batch-events", "batch-bytes", "batch-report", "batch-lost", "batch-totals"])
    expect(byName[name]).toMatchObject({ met: true });
  expect(byName["batch-delays"]?.trustflow).toEqual(expect.any(Number));
  expect(byName["batch-cpu-200"]?.parts?.trustflow).toMatchObject({ worker: expect.any(Number) });
}, 300_000);

test("a process and letters have costs: actions, history, and what the databases keep", async () => {
  const { byName } = await bench("--only", "costs", "--process", "sendMessage", "--after", "9");
  expect(Object.keys(byName)).toEqual(["cost-sendMessage", "cost-letters-after-9"]);
  expect(byName["cost-sendMessage"]?.parts?.trustflow).toMatchObject({ actions: 3, events: 13 });
  expect(
    byName["cost-letters-after-9"]?.parts?.trustflow["log bytes of Trustflow"],
  ).toBeGreaterThan(0);
}, 300_000);
