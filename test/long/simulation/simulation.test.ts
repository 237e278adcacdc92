// A sample of the simulation: two lives of each process, with a fault of each kind, violate nothing; and three defects that are put back are
// found (test/simulation/defects/README.md). Each night takes new seeds for hours, and all defects that have a plan.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { processes } from "../../../src/contracts/registry.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { rules } from "../../simulation/checks.js";
import { replayKept } from "../../simulation/defects.js";
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

/** One in the code of workflows, whose bundle is built anew, one around a call, and one of the receiver. */
const defects = ["no-poll", "row-after-call", "acknowledged-before-commit"];

test(
  "a defect that is put back violates the rule of its plan",
  async () => {
    const found: string[] = [];
    await replayKept(defects, ({ name, violation }) => void (violation && found.push(name)));
    expect(found.toSorted()).toEqual(defects.toSorted());
  },
  LIMIT_MS,
);
