// Puts back a defect that this project had: `npm run simulate -- --defect NAME`. The defect is a patch in defects/; it is applied to a
// copy of the tree, in which the changed files alone are built anew. Beside the patch is the shortest plan that was found for it.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { withoutTypes } from "../../scripts/typescript.mjs";
import type { Plan } from "./plan.js";
import type { Report, Violation } from "./report.js";
import { run, runAll } from "./seeds.js";
import { shrink } from "./shrink.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const patches = join(root, "test/simulation/defects");
const runFile = promisify(execFile);

export interface Found {
  plan: Plan | undefined;
  violation: Violation | undefined;
  /** Of processor time, over all seeds. */
  minutes: number;
  seeds: number;
  /** What the plan violates without the defect; undefined where it was not asked. */
  without: Violation[] | undefined;
}

export async function defectNames(): Promise<string[]> {
  const files = await readdir(patches);
  const patchFiles = files.filter((file) => file.endsWith(".patch")).toSorted();
  return patchFiles.map((file) => file.slice(0, -6));
}

const planFile = (name: string) => join(patches, `${name}.json`);

interface KeptPlan extends Plan {
  /** The rule, in its words. */
  violates: string;
}

/** The plan that is known to find it. */
export async function planFor(name: string): Promise<KeptPlan | undefined> {
  const file = planFile(name);
  return existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as KeptPlan) : undefined;
}

/**
 * Runs plans until one finds the defect or the time is over. `keeps`: the plan that finds it is shrunk, and kept beside the patch; it is run
 * without the defect too.
 */
export async function lookFor(
  name: string,
  plans: Iterable<Plan>,
  { ms, keeps }: { ms: number; keeps: boolean },
): Promise<Found> {
  const tree = await patched(name);
  const found: Found = {
    ...{ plan: undefined, violation: undefined, minutes: 0, seeds: 0, without: undefined },
  };
  try {
    for await (const { plan, report } of runAll(
      takeWhile(plans, () => !found.violation),
      ms,
      tree,
    )) {
      found.minutes += report.seconds / 60;
      found.seeds += 1;
      if (report.violations.length === 0 || found.violation) continue;
      found.violation = report.violations[0];
      found.plan = plan;
    }
    if (found.plan && keeps)
      found.without = await keep(name, found.plan, found.violation!.rule, tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return found;
}

async function keep(name: string, plan: Plan, rule: string, tree: URL): Promise<Violation[]> {
  const violates = ({ violations }: Report) => violations.some((one) => one.rule === rule);
  const shortest = await shrink(plan, async (tried) => violates(await run(tried, tree)));
  const kept: KeptPlan = { violates: rule, ...shortest };
  await writeFile(planFile(name), `${JSON.stringify(kept, null, 2)}\n`);
  return (await run(shortest)).violations;
}

export interface Replayed {
  name: string;
  /** With the defect; undefined where the rule that the plan is kept for was not violated. */
  violation: Violation | undefined;
}

/** Replays the kept plans, each with its defect, as many at a time as there are cores. */
export async function replayKept(
  names: string[],
  told: (replayed: Replayed) => void,
): Promise<void> {
  const left = [...names];
  const next = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const plan = (await planFor(name))!;
      const tree = await patched(name);
      const found = (await run(plan, tree)).violations;
      const violation = found.find(({ rule }) => rule === plan.violates);
      await rm(tree, { recursive: true, force: true });
      told({ name, violation });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
}

function* takeWhile<T>(items: Iterable<T>, isWanted: () => boolean): Generator<T> {
  for (const item of items) {
    if (!isWanted()) return;
    yield item;
  }
}

/** A copy of the tree that has the defect. */
export async function patched(name: string): Promise<URL> {
  const copy = await mkdtemp(join(tmpdir(), "trustflow-defect-"));
  const parts = ["src", "dist", "packages", "scripts", "test", "package.json", "package-lock.json"];
  // They are large, and no simulation reads them.
  const large = ["test/replay", "test/lts", "test/fixtures"];
  const filter = (path: string) => !large.includes(relative(root, path));
  for (const part of parts)
    await cp(join(root, part), join(copy, part), {
      recursive: true,
      preserveTimestamps: true,
      filter,
    });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  const patch = join(patches, `${name}.patch`);
  // Outside of any repository, so that paths are those of the copy.
  await runFile("git", ["apply", patch], {
    cwd: copy,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
  });
  const changed = (await readFile(patch, "utf8")).matchAll(/^\+\+\+ b\/(\S+\.ts)$/gm);
  const files = Array.from(changed, ([, file]) => file!);
  for (const file of files) await buildOne(copy, file);
  if (files.some((file) => IN_BUNDLE.test(file)))
    await runFile(process.execPath, ["--input-type=module", "-e", BUNDLE], { cwd: copy });
  return new URL(`${pathToFileURL(copy).href}/`);
}

/** What the workflows consist of. */
const IN_BUNDLE = /^src\/(workflows|contracts|temporal)\//;
const BUNDLE = `await (await import("./scripts/build.mjs")).bundleWorkflows()`;

async function buildOne(copy: string, file: string): Promise<void> {
  const built = file.replace(/(^|\/)src\//, "$1dist/").replace(/\.ts$/, ".js");
  await writeFile(join(copy, built), await withoutTypes(join(copy, file)));
}
