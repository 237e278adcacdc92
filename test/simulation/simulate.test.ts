// `npm run simulate`: a plan gives one hash, in any process and on both releases of Node.
import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { ltsNode } from "../../scripts/lts.mjs";
import { planOf } from "./plan.js";
import type { Whole } from "./report.js";
import { temporaryFolder } from "../harness/temporary.js";

const LIMIT_MS = 600_000;
const seed = 7;

describe("a run", () => {
  /** Short, and with callbacks. */
  const options = { seed, steps: 2, processes: ["sendPostal"] } as const;
  const ofSeed = ["--seed", String(seed), "--steps", "2", "--process", "sendPostal"];
  let first: Whole;
  let replayed: Whole;

  async function simulate(args: string[], node = process.execPath): Promise<Whole> {
    const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts", "--json"];
    const { stdout } = await promisify(execFile)(node, [...script, ...args]);
    return JSON.parse(stdout) as Whole;
  }

  beforeAll(async () => {
    const file = join(await temporaryFolder(), "plan.json");
    await writeFile(file, JSON.stringify(planOf(options)));
    const lts = await ltsNode();
    [first, replayed] = await Promise.all([simulate(ofSeed), simulate(["--replay", file], lts)]);
  }, LIMIT_MS);

  test("--json says what was done", () => {
    expect(first).toEqual({
      seeds: 1,
      seed,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      processes: 1,
      virtualYears: expect.any(Number),
      faults: expect.any(Object),
      checks: expect.any(Object),
      outcomes: expect.any(Object),
      seconds: expect.any(Number),
      yearsPerCpuHour: expect.any(Number),
      violations: [],
    });
    const sum = (counts: Record<string, number>) =>
      Object.values(counts).reduce((all, count) => all + count, 0);
    expect([sum(first.outcomes), sum(first.faults)]).toEqual([1, 1]);
    expect(sum(first.checks)).toBeGreaterThan(10);
    expect(first.yearsPerCpuHour).toBeGreaterThan(0);
  });

  test("--replay repeats it to the same hash, also under the release of Node that the image runs on", () => {
    const { hash, outcomes } = replayed;
    expect({ hash, outcomes }).toEqual({ hash: first.hash, outcomes: first.outcomes });
  });
});

test("the patch of each defect applies to the present code", async () => {
  const patches = (await readdir("test/simulation/defects")).filter((file) =>
    file.endsWith(".patch"),
  );
  expect(patches.length).toBeGreaterThan(15);
  for (const patch of patches)
    await promisify(execFile)("git", ["apply", "--check", `test/simulation/defects/${patch}`]);
});
