// Runs plans, each in a process of its own, because a simulation changes the clock and the network of its process.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import type { Plan } from "./plan.js";
import type { Report } from "./report.js";

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `10m` or `8h`. */
export function msOf(time: string | undefined): number {
  return time === undefined ? Infinity : Number(time.slice(0, -1)) * units[time.at(-1)!]!;
}

export interface Done {
  plan: Plan;
  report: Report;
}

/** As many at a time as there are cores; begins no plan once `ms` are over. */
export async function* runAll(
  plans: AsyncIterator<Plan> | Iterator<Plan>,
  ms: number,
  tree?: URL,
): AsyncGenerator<Done> {
  const end = Date.now() + ms;
  const running = new Set<Promise<Done>>();
  try {
    for (let isOver = false; !isOver || running.size > 0;) {
      while (!isOver && running.size < availableParallelism()) {
        const { value: plan, done } = await plans.next();
        isOver = done === true || Date.now() >= end;
        if (isOver) break;
        const own = run(plan as Plan, tree).then((report) => ({ plan: plan as Plan, report }));
        running.add(own);
        void own.then(() => running.delete(own));
      }
      if (running.size > 0) yield await Promise.race(running);
    }
  } finally {
    endAll();
  }
}

/** A simulation that says nothing for so long has come to a standstill. */
const SILENT_MS = 10 * 60_000;
const LAST_WORDS = 4_000;
/** Of short-lived objects, in MB: with the default, the collection of garbage takes much of the time. */
const YOUNG_MEMORY = "--max-semi-space-size=64";
const children = new Set<ChildProcess>();

/** Ends all that are in progress. */
export function endAll(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** `tree`: the sources that it runs, where they are not these. One that dies or stands still violates a rule too. */
export async function run(plan: Plan, tree = new URL("../../", import.meta.url)): Promise<Report> {
  const database = await (emptyDatabase ??= makeDatabase());
  return new Promise((resolve) => {
    const child = fork(new URL("test/simulation/one.ts", tree), {
      execArgv: [YOUNG_MEMORY, "--import", new URL("test/simulation/loader.mjs", tree).href],
      env: { ...process.env, TEMPORAL_DEBUG: "1", TZ: "UTC" },
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    children.add(child);
    let lastWords = "";
    let report: Report | undefined;
    let silence = setTimeout(() => child.kill("SIGKILL"), SILENT_MS);
    child.stderr!.on("data", (chunk: Buffer) => {
      process.stderr.write(chunk);
      lastWords = `${lastWords}${chunk.toString()}`.slice(-LAST_WORDS);
    });
    child.on("message", (message: Report | "alive") => {
      if (message !== "alive") report = message;
      clearTimeout(silence);
      silence = setTimeout(() => child.kill("SIGKILL"), SILENT_MS);
    });
    child.on("close", (code, signal) => {
      clearTimeout(silence);
      children.delete(child);
      resolve(report ?? deadReport(plan, `it ended with ${signal ?? code}\n${lastWords}`));
    });
    child.send({ plan, database });
  });
}

let emptyDatabase: Promise<string> | undefined;

/** The first start of PostgreSQL (initdb) takes seconds, so what it makes is kept for all simulations with this release of PGlite. */
async function makeDatabase(): Promise<string> {
  const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
  const manifest = await readFile(join(modules, "@electric-sql/pglite/package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const folder = join(modules, ".cache", "simulation");
  const file = join(folder, `postgres-${version}.tar`);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  const pg = await PGlite.create();
  const own = `${file}.${process.pid}`;
  await writeFile(own, Buffer.from(await (await pg.dumpDataDir("none")).arrayBuffer()));
  await pg.close();
  await rename(own, file);
  return file;
}

function deadReport({ seed }: Plan, detail: string): Report {
  const nothing = { faults: {}, checks: {}, outcomes: {}, story: [] };
  const rule = "a simulation comes to its end";
  const violations = [{ rule, detail, at: new Date().toISOString() }];
  return { seed, hash: "", processes: 0, virtualYears: 0, seconds: 0, ...nothing, violations };
}
