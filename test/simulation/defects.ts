// Puts back a defect that this project had, and looks for a seed that finds it: `npm run simulate -- --defect NAME [--seed N] [--steps N]
// [--for 10m]`. The defect is a patch in defects/; it is applied to a copy of the tree, which is built and removed again.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { ProcessName } from "../../src/contracts/registry.js";
import { plansFrom } from "./plan.js";
import type { FaultKind, PlanOptions } from "./plan.js";
import type { Violation } from "./report.js";
import { runAll } from "./seeds.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const patches = join(root, "test/simulation/defects");
const run = promisify(execFile);

export interface Found {
  violation: Violation | undefined;
  seed: number | undefined;
  /** Of processor time, over all seeds. */
  minutes: number;
  seeds: number;
}

export async function defectNames(): Promise<string[]> {
  const files = await readdir(patches);
  return files.filter((file) => file.endsWith(".patch")).map((file) => file.slice(0, -6));
}

/** The narrowing and the seed that is known to find it: `# seed 7, 12 steps, sendPostal; cutAfter killWorker` in the header of the patch. */
export async function knownOf(name: string): Promise<PlanOptions | undefined> {
  const text = await readFile(join(patches, `${name}.patch`), "utf8");
  const [, seed, steps, process, kinds] =
    /^# seed (\d+), (\d+) steps(?:, (\w+))?(?:; ([\w ]+))?$/m.exec(text) ?? [];
  if (seed === undefined) return undefined;
  return {
    seed: Number(seed),
    steps: Number(steps),
    ...(process !== undefined && { processes: [process as ProcessName] }),
    ...(kinds !== undefined && { kinds: kinds.split(" ") as FaultKind[] }),
  };
}

/** Runs seeds from the first one on, until one finds the defect or the time is over. */
export async function lookFor(name: string, first: PlanOptions, ms: number): Promise<Found> {
  const tree = await patched(name);
  const found: Found = { violation: undefined, seed: undefined, minutes: 0, seeds: 0 };
  try {
    const untilFound = takeWhile(plansFrom(first), () => !found.violation);
    for await (const { plan, report } of runAll(untilFound, ms, tree)) {
      found.minutes += report.seconds / 60;
      found.seeds += 1;
      if (report.violations.length === 0 || found.violation) continue;
      found.violation = report.violations[0];
      found.seed = plan.seed;
    }
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return found;
}

function* takeWhile<T>(items: Iterable<T>, isWanted: () => boolean): Generator<T> {
  for (const item of items) {
    if (!isWanted()) return;
    yield item;
  }
}

/** A copy of the tree that has the defect, built. */
async function patched(name: string): Promise<URL> {
  const copy = await mkdtemp(join(tmpdir(), "trustflow-defect-"));
  const parts = ["src", "dist", "packages", "scripts", "test", "package.json", "package-lock.json"];
  for (const part of [...parts, "tsconfig.json", "tsconfig.build.json"])
    await cp(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  // Outside of any repository, so that paths are those of the copy.
  await run("git", ["apply", join(patches, `${name}.patch`)], {
    cwd: copy,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
  });
  await run(process.execPath, [join(copy, "scripts/build.mjs")], { cwd: copy });
  return new URL(`${pathToFileURL(copy).href}/`);
}
