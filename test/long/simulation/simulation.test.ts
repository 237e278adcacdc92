// The simulation with everything that it has: what is sound violates nothing, and a defect that is put back is found by the plan beside its
// patch (test/simulation/defects/README.md).
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { processes } from "../../../src/contracts/registry.js";
import { rules } from "../../simulation/checks.js";
import { faultKinds } from "../../simulation/plan.js";
import type { Whole } from "../../simulation/report.js";

const LIMIT_MS = 1_200_000;
/** Between them their plans have every kind of fault and every process; in the last one calls still fail while all else rests. */
const plans = [
  ["--seed", "3315", "--steps", "72"],
  ["--seed", "2490", "--steps", "72"],
  ["--seed", "1", "--steps", "4", "--process", "sendMessage", "--fault", "erase"],
  ["--seed", "1", "--steps", "8", "--process", "sendPostal", "--fault", "refuse"],
];

/** What `npm run simulate` prints, and its exit code. */
async function simulate(...args: string[]): Promise<{ code: number; stdout: string }> {
  const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts"];
  return promisify(execFile)(process.execPath, [...script, ...args]).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

test(
  "months of all processes, with every kind of fault, violate nothing",
  async () => {
    const found = await Promise.all(
      plans.map(async (plan) => {
        const { stdout } = await simulate(...plan, "--json");
        return JSON.parse(stdout) as Whole;
      }),
    );
    for (const { seed, violations } of found)
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    const names = (of: (whole: Whole) => object) =>
      [...new Set(found.flatMap((whole) => Object.keys(of(whole))))].toSorted();
    expect(names(({ faults }) => faults)).toEqual(Object.keys(faultKinds).toSorted());
    const lived = names(({ outcomes }) => outcomes).map((outcome) => outcome.split(" ")[0]);
    expect([...new Set(lived)]).toEqual([...processes].toSorted());
    // That nothing is left unhandled is not counted.
    const checked = Object.keys(rules).filter((rule) => rule !== "unhandled");
    expect(names(({ checks }) => checks)).toEqual(checked.toSorted());
  },
  LIMIT_MS,
);

test(
  "the plan of each defect violates its rule with it",
  async () => {
    const files = await readdir("test/simulation/defects");
    const { code, stdout } = await simulate("--defect", "kept");
    expect(stdout).not.toContain("NOT FOUND");
    expect(stdout.trim().split("\n")).toHaveLength(
      files.filter((file) => file.endsWith(".json")).length,
    );
    expect(code).toBe(0);
  },
  LIMIT_MS,
);
