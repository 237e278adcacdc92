// `npm run simulate`: runs seeds, each in a process of its own, as many at a time as there are cores; shrinks the first failure, keeps its
// plan in a file, and tells it as a story.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { processes } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { faultKinds, plansFrom } from "./plan.js";
import type { FaultKind, Plan, PlanOptions } from "./plan.js";
import type { Report } from "./report.js";
import { addUp, secondsHere, storyOf, tableOf } from "./report.js";
import { endAll, msOf, run, runAll } from "./seeds.js";
import { defectNames, lookFor, planFor, replayKept } from "./defects.js";
import { shrink } from "./shrink.js";

const usage = `usage: npm run simulate -- [--seed N] [--steps N] [--for 10m] [--process NAME] [--fault KIND,KIND] [--replay FILE] [--json]
       npm run simulate -- --defect NAME|kept [--keep] [--seed N] [--steps N] [--for 10m] [--process NAME] [--fault KIND,KIND]`;
/** Of a story that is told. */
const MOST_LINES = 100;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      steps: { type: "string", default: "60" },
      for: { type: "string" },
      process: { type: "string" },
      fault: { type: "string" },
      replay: { type: "string" },
      defect: { type: "string" },
      keep: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const problem = problemOf(values);
  if (values.help || problem !== undefined) {
    console.error(problem === undefined ? usage : `${problem}\n${usage}`);
    return values.help ? 0 : 2;
  }
  if (values.defect !== undefined) return findDefect(values.defect, values);
  const reports: Report[] = [];
  let failed: { plan: Plan; report: Report } | undefined;
  for await (const done of runAll(plansOf(values), msOf(values.for))) {
    reports.push(done.report);
    if (!values.json && done.report.violations.length === 0)
      console.error(
        `seed ${done.plan.seed}: ${done.report.hash.slice(0, 12)}, ${done.report.processes} processes, nothing violated`,
      );
    if (done.report.violations.length > 0) {
      failed = done;
      break;
    }
  }
  const whole = addUp(reports, secondsHere());
  console.log(values.json ? JSON.stringify(whole) : tableOf(whole));
  if (!failed) return 0;
  await tell(failed.plan, failed.report);
  return 1;
}

interface Values {
  seed?: string | undefined;
  steps: string;
  for?: string | undefined;
  process?: string | undefined;
  fault?: string | undefined;
  replay?: string | undefined;
  defect?: string | undefined;
  keep: boolean;
}

function problemOf({ seed, steps, for: time, process: name, fault }: Values): string | undefined {
  if (seed !== undefined && !/^\d{1,15}$/.test(seed)) return `--seed: a whole number, not ${seed}`;
  if (!/^\d{1,5}$/.test(steps) || Number(steps) < 1)
    return `--steps: a whole number from 1, not ${steps}`;
  if (time !== undefined && !/^\d+[smh]$/.test(time))
    return `--for: such as 90s, 10m or 8h, not ${time}`;
  if (name !== undefined && !processes.includes(name as ProcessName))
    return `--process: one of ${processes.join(", ")}, not ${name}`;
  const unknown = kindsOf(fault)?.find((kind) => !Object.hasOwn(faultKinds, kind));
  if (unknown !== undefined)
    return `--fault: some of ${Object.keys(faultKinds).join(", ")}, not ${unknown}`;
  return undefined;
}

const kindsOf = (fault: string | undefined) => fault?.split(",") as FaultKind[] | undefined;

/** What the options say of the first plan; without a seed, a random one. */
function firstOf({ seed, steps, process: name, fault }: Values): PlanOptions {
  return {
    seed: Number(seed ?? Math.floor(Math.random() * 1e9)),
    steps: Number(steps),
    ...(name !== undefined && { processes: [name as ProcessName] }),
    ...(fault !== undefined && { kinds: kindsOf(fault)! }),
  };
}

/** With a time, one seed after the other; else one. */
async function* plansOf(values: Values): AsyncGenerator<Plan> {
  if (values.replay !== undefined) {
    yield JSON.parse(await readFile(values.replay, "utf8")) as Plan;
    return;
  }
  for (const plan of plansFrom(firstOf(values))) {
    yield plan;
    if (values.for === undefined) return;
  }
}

/** 0 where it is found. Without a seed by the plan that is kept beside its patch, if there is one. */
async function findDefect(name: string, values: Values): Promise<number> {
  const names = await defectNames();
  if (name === "kept") return replayAllKept(names);
  if (!names.includes(name)) {
    console.error(`--defect: kept, or one of ${names.join(", ")}, not ${name}`);
    return 2;
  }
  const known = values.seed === undefined ? await planFor(name) : undefined;
  const {
    plan,
    violation,
    without = [],
    ...search
  } = await lookFor(name, known ? [known] : plansFrom(firstOf(values)), {
    ms: msOf(values.for ?? "10m"),
    keeps: values.keep,
  });
  console.log(
    `${name}: ${plan ? `found by seed ${plan.seed}` : "not found"}, ${search.seeds} seeds, ${search.minutes.toFixed(1)} minutes of processor time`,
  );
  if (violation) console.log(`${violation.at}  ${violation.rule}: ${violation.detail}`);
  for (const { rule, detail } of without) console.log(`without the defect too: ${rule}: ${detail}`);
  return violation && without.length === 0 ? 0 : 1;
}

/** 0 where the plan of each defect violates its rule with it. */
async function replayAllKept(names: string[]): Promise<number> {
  let isGood = true;
  const kept = [];
  for (const name of names) if (await planFor(name)) kept.push(name);
  await replayKept(kept, ({ name, violation }) => {
    isGood &&= violation !== undefined;
    console.log(`${name}: ${violation?.rule ?? "NOT FOUND"}`);
  });
  return isGood ? 0 : 1;
}

async function tell(plan: Plan, report: Report): Promise<void> {
  const [first] = report.violations;
  console.error(
    `seed ${plan.seed} violates: ${first?.rule}: ${first?.detail}. Looking for the shortest plan that does …`,
  );
  const shortest = await shrink(plan, async (tried) =>
    (await run(tried)).violations.some(({ rule }) => rule === first?.rule),
  );
  const file = join(".trustflow", "simulation", `${plan.seed}.json`);
  await mkdir(join(".trustflow", "simulation"), { recursive: true });
  await writeFile(file, `${JSON.stringify(shortest, null, 2)}\n`);
  const told = await run(shortest);
  console.error(storyOf(told, MOST_LINES));
  console.error(
    `${shortest.steps.length} steps; run it again: npm run simulate -- --replay ${file}`,
  );
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => {
    endAll();
    process.exit(code);
  });
process.exitCode = await main();
