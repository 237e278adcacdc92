// A sample of the simulation: two lives of each process, with a fault of each kind, violate nothing; and of each rule one defect that is put
// back violates it (test/simulation/defects/README.md). The search is `npm run simulate`, with new seeds for hours and with all defects.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { processes } from "../../../src/contracts/registry.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { rules } from "../../simulation/checks.js";
import { defectNames, planFor, replayKept } from "../../simulation/defects.js";
import { faultKinds, planOf, sampleOf } from "../../simulation/plan.js";
import type { Whole } from "../../simulation/report.js";

const LIMIT_MS = 1_200_000;
/** Enough steps that the plan has each kind of fault and each process. */
const sample = sampleOf(planOf({ seed: 1, steps: 300 }));
/** Calls still fail while all else rests. */
const failing = ["--seed", "6", "--steps", "8", "--process", "sendPostal", "--fault", "refuse"];

/** What `npm run simulate` finds. */
async function simulate(...args: string[]): Promise<Whole> {
  const script = ["--import", "./scripts/typescript.mjs", "test/simulation/main.ts", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, [...script, ...args]).catch(
    (error: { stdout: string }) => error,
  );
  return JSON.parse(stdout) as Whole;
}

test(
  "months of all processes, with every kind of fault, violate nothing",
  async () => {
    const file = join(await temporaryFolder(), "plan.json");
    await writeFile(file, JSON.stringify(sample));
    const found = await Promise.all([simulate("--replay", file), simulate(...failing)]);
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

/** By the rule, the defect whose plan is the shortest. */
async function oneForEachRule(): Promise<Map<string, string>> {
  const shortest = new Map<string, { name: string; steps: number }>();
  for (const name of await defectNames()) {
    const plan = await planFor(name);
    const known = plan && shortest.get(plan.violates);
    if (plan && (!known || plan.steps.length < known.steps))
      shortest.set(plan.violates, { name, steps: plan.steps.length });
  }
  return new Map([...shortest].map(([rule, { name }]) => [rule, name]));
}

test(
  "the plan of a defect violates its rule with it",
  async () => {
    const defects = await oneForEachRule();
    expect(defects.size).toBeGreaterThan(7);
    const found = new Map<string, string>();
    await replayKept([...defects.values()], ({ name, violation }) => {
      if (violation) found.set(violation.rule, name);
    });
    expect(found).toEqual(defects);
  },
  LIMIT_MS,
);
