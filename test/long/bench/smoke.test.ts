// The benchmark itself, in its shortest form: it runs, says what it measured, and what does not depend on the machine's speed
// is as docs/design.md §12 wants it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Measure } from "../../../bench/measure.js";

const run = [
  ...["--import", "./scripts/typescript.mjs", "bench/run.ts", "--quick", "--json"],
  ...["--only", "history", "--only", "batch", "--only", "costs"],
  ...["--recipients", "50", "--notices", "10", "--callbacks", "400"],
  ...["--process", "sendMessage", "--after", "9"],
];

test("one document with each measure, its goal and its ratio; batches are small, and lose no callback", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, run);
  const said = JSON.parse(stdout) as Record<string, object> & { measures: Measure[] };
  expect(said).toMatchObject({
    machine: { cores: expect.anything() },
    versions: { temporalServer: expect.anything() },
  });
  const byName = Object.fromEntries(said.measures.map((one) => [one.name, one]));
  for (const name of ["events-burst", "events-spaced", "actions-burst", "actions-spaced"])
    expect(byName[name]).toMatchObject({ met: true, ratio: expect.any(Number) });
  expect(byName["duplicates"]).toMatchObject({ trustflow: 0, met: true });

  for (const name of ["batch-events", "batch-bytes", "batch-report", "batch-lost", "batch-totals"])
    expect(byName[name]).toMatchObject({ met: true });
  expect(byName["batch-delays"]?.trustflow).toEqual(expect.any(Number));
  expect(byName["batch-cpu-50"]?.parts?.trustflow).toMatchObject({ worker: expect.any(Number) });

  const costs = Object.keys(byName).filter((name) => name.startsWith("cost-"));
  expect(costs).toEqual(["cost-sendMessage", "cost-letters-after-9"]);
  expect(byName["cost-sendMessage"]?.parts?.trustflow).toMatchObject({ actions: 3, events: 13 });
  const letters = byName["cost-letters-after-9"]?.parts?.trustflow;
  expect(letters?.["log bytes of Trustflow"]).toBeGreaterThan(0);
}, 600_000);
