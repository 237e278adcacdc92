#!/usr/bin/env node
// `npm run mutants -- FILE[:FROM-TO] … TEST …`: changes each source file (or its lines) a little in many ways, and names the changes that none
// of the test files notices (test/mutants/README.md).
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, runStep } from "./steps.mjs";

/** @typedef {{ id: string, fileName: string, replacement: string, location: { start: Place, end: Place } }} Mutant */
/** @typedef {{ line: number, column: number }} Place */
/** @typedef {{ id: string, state: "killed" | "late" | "survived" | "static" | "unreached", by?: string }} Result */

/** Of a test the driver has a shorter one, by the time that it takes without a mutant. */
const LIMIT_MS = 15_000;
/** What a file makes for all its tests has its own. */
const HOOK_LIMIT_MS = 4_000;
const named = process.argv.slice(2);
const tests = named.filter((path) => path.endsWith(".test.ts"));
const sources = named.filter((path) => !tests.includes(path));
if (tests.length === 0 || sources.length === 0) {
  console.error("usage: npm run mutants -- FILE[:FROM-TO] … TEST …");
  process.exit(2);
}
if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
const folder = await mkdtemp(join(tmpdir(), "trustflow-mutants-"));
removeOnExit(folder);
const mutants = await instrument();
const module = new URL("../packages/dev/dist/servers/postgres.js", import.meta.url).href;
const { startPostgres } = await import(module);
const server = await startPostgres({ directory: join(folder, "postgres"), throwaway: true });
try {
  if ((await vitest("reach")) === 0) {
    // A mutant may end the process that runs it: the others go on in a new one.
    for (let left = Infinity, before; left > 0 && left !== before;) {
      before = left;
      await vitest("run");
      left = mutants.length - (await results()).size;
    }
    await report(await results());
  } else process.exitCode = 1;
} finally {
  await server.close();
}

/** Writes the sources with all their mutants, of which one at a time is switched on. */
async function instrument() {
  const { Instrumenter } = await import("@stryker-mutator/instrumenter");
  const silent = () => undefined;
  const never = () => false;
  const log = {
    ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
    ...{ isTraceEnabled: never, isDebugEnabled: never, isInfoEnabled: never },
    ...{ isWarnEnabled: never, isErrorEnabled: never, isFatalEnabled: never },
  };
  /** @type {Map<string, { start: Place, end: Place }[]>} by path: the lines to change; none for all */
  const linesOf = new Map();
  for (const source of sources) {
    const [, path = "", from, to] = /^([^:]+)(?::(\d+)-(\d+))?$/.exec(source) ?? [];
    const lines = linesOf.get(resolve(root, path)) ?? [];
    linesOf.set(resolve(root, path), lines);
    if (from === undefined) continue;
    lines.push({
      start: { line: Number(from) - 1, column: 0 },
      end: { line: Number(to), column: 0 },
    });
  }
  const files = await Promise.all(
    [...linesOf].map(async ([name, lines]) => ({
      name,
      mutate: lines.length > 0 ? lines : true,
      content: await readFile(name, "utf8"),
    })),
  );
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const made = await new Instrumenter(log).instrument(files, options);
  const contents = made.files.map(({ name, content }) => [name, content]);
  await writeFile(join(folder, "sources.json"), JSON.stringify(Object.fromEntries(contents)));
  await writeFile(join(folder, "mutants.json"), JSON.stringify(made.mutants));
  await writeFile(join(folder, "results.jsonl"), "");
  return made.mutants;
}

/** @param {"reach" | "run"} pass */
function vitest(pass) {
  const args = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "--project=shared"];
  const limits = [`--testTimeout=${LIMIT_MS}`, `--hookTimeout=${HOOK_LIMIT_MS}`];
  const silent = ["--reporter=json", `--outputFile=${join(folder, "run.json")}`];
  const unheard = [...limits, ...silent, "--dangerouslyIgnoreUnhandledErrors"];
  return runStep(process.execPath, [...args, ...(pass === "run" ? unheard : [])], {
    env: {
      ...{ TEST_RUN: "mutants", MUTANTS_FOLDER: folder, MUTANTS_PASS: pass },
      MUTANTS_TESTS: tests.map((path) => resolve(root, path)).join(","),
      TEST_DATABASE_URL: server.url,
      TEST_TEMPORAL_ADDRESS: "none: no test of this run needs it",
    },
    stdout: "stderr",
  });
}

/** The last one of each mutant. */
async function results() {
  const text = await readFile(join(folder, "results.jsonl"), "utf8");
  /** @type {Result[]} */
  const all = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return new Map(all.map((result) => [result.id, result]));
}

/** @param {Map<string, Result>} byId */
async function report(byId) {
  /** @type {Map<string, Record<string, number>>} */
  const files = new Map();
  for (const { id, fileName, location, replacement } of mutants) {
    const { state, by = "" } = byId.get(id) ?? { state: "late" };
    const counts = files.get(fileName) ?? {};
    files.set(fileName, { ...counts, [state]: (counts[state] ?? 0) + 1 });
    if (state === "killed" || state === "static") continue;
    const { start, end } = location;
    const [line = "", ...more] = (await readFile(fileName, "utf8"))
      .split("\n")
      .slice(start.line, end.line + 1);
    const text =
      more.length === 0 ? line.slice(start.column, end.column) : `${line.slice(start.column)} …`;
    const place = `${fileName.slice(root.length)}:${start.line + 1}:${start.column + 1}`;
    console.log(`${state}  ${place}  ${text}  →  ${replacement.replaceAll(/\s+/g, " ")}  ${by}`);
  }
  for (const [name, { killed = 0, late = 0, survived = 0, unreached = 0 }] of files) {
    const all = killed + late + survived + unreached;
    const score = ((100 * (killed + late)) / all).toFixed(1);
    console.log(
      `${name.slice(root.length)}: ${all} mutants, ${killed} killed, ${late} not in time, ${survived + unreached} survived, ${score} %`,
    );
  }
}
