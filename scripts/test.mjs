// Runs the tests: gets the Temporal server that they need, runs Vitest, and says the closing line. vitest.config.js has what each run is.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { changedArguments } from "./changed.mjs";
import { root, runStep, say } from "./steps.mjs";

/**
 * The tests of test/long, which interrupt and flood the whole system.
 * @param {string[]} args for Vitest
 */
export function testLong(args) {
  return vitest("test:long", ["run", ...args]);
}

/**
 * The deployment, started on an engine of its own. The first failure ends it: each test goes on where the one before has left off.
 * @param {string[]} args for Vitest
 */
export function testCompose(args) {
  return vitest("test:compose", ["run", "--bail=1", ...args]);
}

/**
 * On a Temporal of several services: its upgrade, and the game day, whose report is printed and kept. The first failure ends it.
 * @param {string[]} args for Vitest
 */
export async function testCluster(args) {
  const report = join(root, "artifacts", "game-day.jsonl");
  await mkdir(dirname(report), { recursive: true });
  await rm(report, { force: true });
  process.env["GAME_DAY_REPORT"] = report;
  const code = await vitest("test:cluster", ["run", "--bail=1", ...args]);
  const text = await readFile(report, "utf8").catch(() => "");
  if (text !== "") say(`${text}kept in ${report}`);
  return code;
}

/** As Vitest writes it where it ran no test. */
export const noTests = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  testResults: [],
};

/**
 * Those of test/long but packages and pages, and the promises of test/e2e, under the release of Node that the image runs on.
 * @param {string[]} args for Vitest
 */
export async function testLts(args) {
  const { ltsNode } = await import("./lts.mjs");
  const node = await ltsNode();
  if (node !== undefined) return vitest("test:lts", ["run", ...args], node);
  const results = process.env["TEST_RESULTS_FILE"];
  if (results) await writeFile(results, JSON.stringify({ ...noTests, notRun: ["test:lts"] }));
  return 0;
}

/**
 * All others; with `--changed`, or `--changed=<branch>`, those that the change touches.
 * @param {string[]} args for Vitest
 */
export async function test(args) {
  const wish = args.find((arg) => /^--changed(=|$)/.test(arg));
  if (wish === undefined) return vitest("test", ["run", ...args]);
  const others = args.filter((arg) => arg !== wish);
  if (others.some((arg) => !arg.startsWith("-"))) {
    say("--changed takes no paths; a branch is written --changed=<branch>");
    return 2;
  }
  const chosen = changedArguments(wish.split("=")[1]);
  if (chosen) return vitest("test", [...chosen, ...others]);
  say("nothing has changed");
  return 0;
}

/**
 * @param {string} run its name in vitest.config.js; TEST_RUN goes before it
 * @param {string[]} args
 * @param {string} [node] that runs Vitest, and whatever a test starts
 * @returns {Promise<number>}
 */
export async function vitest(run, args, node = process.execPath) {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-test-"));
  removeOnExit(folder);
  try {
    const results = process.env["TEST_RESULTS_FILE"] ?? join(folder, "results.json");
    const reports = ["--reporter=default", "--reporter=json", `--outputFile=${results}`];
    const code = await runStep(
      node,
      [join(root, "node_modules", "vitest", "vitest.mjs"), ...args, ...reports],
      {
        env: {
          TEST_RUN: process.env["TEST_RUN"] ?? run,
          TEMPORAL_CLI_PATH: await temporal(),
          // Of the release of test/lts: each program that a test starts compiles its modules a third faster. Node 20 has none.
          NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node-compile"),
          PATH: [dirname(node), process.env["PATH"]].join(delimiter),
        },
        stdout: "stderr",
      },
    );
    if (code !== 0) await noteError(results);
    if (!process.env["TEST_RESULTS_FILE"]) console.log(await closingLine([results]));
    return code;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/**
 * An error beside the tests, such as the end of a process that ran them, is in no result. Nor is that no test was found.
 * @param {string} file
 */
export async function noteError(file) {
  const results = await resultsIn(file);
  if (!results.lost && failuresIn(results).length === 0)
    await writeFile(file, JSON.stringify({ ...results, erred: true }));
}

/**
 * @param {string[]} files what runs of Vitest wrote
 * @param {string[]} others checks that could not run
 */
export async function closingLine(files, others = []) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const notRun = new Set(others);
  for (const file of files) {
    const results = await resultsIn(file);
    sum.passed += results.numPassedTests;
    sum.failed += failuresIn(results).length;
    sum.skipped += results.numPendingTests;
    for (const check of [...(results.notRun ?? []), ...programsMissing(results)]) notRun.add(check);
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
  const left = notRun.size > 0 ? `, not run: ${[...notRun].join(", ")}` : "";
  return `${sum.passed} passed, ${sum.failed} failed${skipped}${left}`;
}

/**
 * What was red, for the last lines of a long run.
 * @param {string[]} files what runs of Vitest wrote
 */
export async function failedTests(files) {
  return (await Promise.all(files.map(resultsIn))).flatMap(failuresIn);
}

/**
 * What a run of Vitest wrote, and what `noteError` has added.
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, erred?: boolean, lost?: boolean,
 *   notRun?: string[], testResults?: import("vitest/node").JsonTestResults["testResults"] }} Results
 */

/**
 * @param {string} file
 * @returns {Promise<Results>}
 */
async function resultsIn(file) {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const nothing = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, lost: true };
  return text === undefined ? nothing : JSON.parse(text);
}

/**
 * Each failed test with its error, each file that failed without one, and a run that failed without either.
 * @param {Results} results
 * @returns {string[]}
 */
function failuresIn({ numFailedTests, erred, lost, testResults = [] }) {
  if (lost) return ["a run left no results: see above"];
  const named = testResults.flatMap(failedIn);
  const failedBeside = named.length === 0 && (erred || numFailedTests > 0);
  return failedBeside ? ["beside the tests: see above"] : named;
}

/** @param {import("vitest/node").JsonTestResults["testResults"][number]} result */
function failedIn({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((one) => one.status === "failed");
  if (failed.length === 0 && status !== "failed") return [];
  const file = relative(root, name);
  if (failed.length === 0) return [`${file}: ${message || "its set-up failed: see above"}`];
  return failed.map(
    ({ fullName, failureMessages }) =>
      `${file} > ${fullName}: ${failureMessages?.join("\n") ?? ""}`,
  );
}

/**
 * The tests that need a program which is not installed (test/harness/programs.ts).
 * @param {Results} results
 */
function programsMissing({ testResults = [] }) {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  /** @param {(status: string) => boolean} isOne */
  const neededBy = (isOne) =>
    results
      .filter(({ status }) => isOne(status))
      .flatMap(({ ancestorTitles }) => ancestorTitles)
      .flatMap((title) => /^needs ([^:]+):/.exec(title)?.[1] ?? []);
  const there = new Set(neededBy((status) => status !== "skipped"));
  const missing = neededBy((status) => status === "skipped").filter((name) => !there.has(name));
  return missing.map((program) => `tests with ${program}`);
}

async function temporal() {
  const module = new URL("../packages/dev/dist/servers/temporal-server.js", import.meta.url);
  const { findTemporal } = await import(module.href);
  return findTemporal(say);
}
