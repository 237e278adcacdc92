// The simulation with everything that it has: what is sound violates nothing, and a defect that is put back is found by the plan beside its
// patch, which violates nothing without it (test/simulation/defects/README.md).
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const LIMIT_MS = 1_200_000;

/** What `npm run simulate` prints, also where something was violated. */
async function simulate(...args: string[]): Promise<string> {
  const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts"];
  const run = promisify(execFile)(process.execPath, [...script, ...args]);
  return (await run.catch((failed: { stdout: string }) => failed)).stdout;
}

test(
  "months of all processes, with every kind of fault, violate nothing",
  async () => {
    const found = await Promise.all(
      ["1", "2"].map(async (seed) =>
        JSON.parse(await simulate("--seed", seed, "--steps", "80", "--json")),
      ),
    );
    for (const { seed, processes, virtualYears, violations } of found) {
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      expect(processes).toBeGreaterThan(30);
      expect(virtualYears).toBeGreaterThan(1);
    }
  },
  LIMIT_MS,
);

test(
  "the plan of each defect is red with it, and green without it",
  async () => {
    const lines = (await simulate("--defect", "kept")).split("\n");
    expect(lines.filter((line) => /NOT FOUND|without it too/.test(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(10);
  },
  LIMIT_MS,
);
