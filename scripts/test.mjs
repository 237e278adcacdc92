// Runs the tests: gets the Temporal server that they need, runs Jest, and says the closing line.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { changedArguments } from "./changed.mjs";
import { root, runStep, say } from "./steps.mjs";

/**
 * The tests of test/long, which interrupt and flood the whole system.
 * @param {string[]} args for Jest
 */
export function testLong(args) {
  return jest([...workers(1.5, args), ...args, "--roots=test/long"]);
}

/**
 * So many test files at once for each core: what runs from end to end waits more than it works.
 * @param {number} each
 * @param {string[]} args
 */
function workers(each, args) {
  const hasOwn = args.some((arg) => arg.startsWith("--maxWorkers"));
  return hasOwn ? [] : [`--maxWorkers=${Math.ceil(availableParallelism() * each)}`];
}

/** As Jest writes it where it ran no test, and what was not run. */
const noLts = {
  numPassedTests: 0,
  numFailedTests: 0,
  numRuntimeErrorTestSuites: 0,
  numPendingTests: 0,
  testResults: [],
  notRun: ["test:lts"],
};

/** Those of `test/long` that `test:lts` runs. */
export const longUnderLts = ["test/long/e2e", "test/long/histories", "test/long/replay"];

/**
 * Those of processes from end to end, and recorded histories, under the release of Node that the image runs on.
 * @param {string[]} args for Jest
 */
export async function testLts(args) {
  const { ltsNode } = await import("./lts.mjs");
  const node = await ltsNode();
  if (node === undefined) {
    const results = process.env["TEST_RESULTS_FILE"];
    if (results) await writeFile(results, JSON.stringify(noLts));
    return 0;
  }
  const folders = ["test/e2e", "test/replay", ...longUnderLts];
  const roots = folders.map((folder) => `--roots=${folder}`);
  return jest([...workers(2, args), ...args, ...roots], node);
}

/**
 * All others; with `--changed`, or `--changed=<branch>`, those that the change touches.
 * @param {string[]} args for Jest
 */
export async function test(args) {
  const wish = args.find((arg) => /^--changed(=|$)/.test(arg));
  if (wish === undefined) return jest([...args, "--testPathIgnorePatterns=test/long/"]);
  const others = args.filter((arg) => arg !== wish);
  if (others.some((arg) => !arg.startsWith("-"))) {
    say("--changed takes no paths; a branch is written --changed=<branch>");
    return 2;
  }
  const chosen = changedArguments(wish.split("=")[1]);
  if (chosen) return jest([...others, ...chosen]);
  say("nothing has changed");
  return 0;
}

/**
 * @param {string[]} args
 * @param {string} [node] that runs Jest, and whatever a test starts
 * @returns {Promise<number>}
 */
async function jest(args, node = process.execPath) {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-test-"));
  removeOnExit(folder);
  try {
    const results = process.env["TEST_RESULTS_FILE"] ?? join(folder, "results.json");
    // A list of tests has no results.
    const isList = args.includes("--listTests");
    const code = await runStep(
      node,
      [
        join(root, "node_modules", "jest", "bin", "jest.js"),
        ...args,
        ...(isList ? [] : ["--json", `--outputFile=${results}`]),
      ],
      {
        env: {
          TEMPORAL_CLI_PATH: await temporal(),
          NODE_OPTIONS: nodeOptions(),
          // Of the release of test/lts: each program that a test starts compiles its modules a third faster. Node 20 has none.
          NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node-compile"),
          PATH: [dirname(node), process.env["PATH"]].join(delimiter),
        },
        stdout: "stderr",
      },
    );
    if (!isList && !process.env["TEST_RESULTS_FILE"]) console.log(await closingLine([results]));
    return code;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/**
 * @param {string[]} files what runs of Jest wrote
 * @param {string[]} others checks that could not run
 */
export async function closingLine(files, others = []) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const notRun = new Set(others);
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) sum.failed += 1;
    else {
      const results = JSON.parse(text);
      sum.passed += results.numPassedTests;
      sum.failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
      sum.skipped += results.numPendingTests;
      for (const check of [...(results.notRun ?? []), ...programsMissing(results)])
        notRun.add(check);
    }
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
  const left = notRun.size > 0 ? `, not run: ${[...notRun].join(", ")}` : "";
  return `${sum.passed} passed, ${sum.failed} failed${skipped}${left}`;
}

/**
 * The tests that need a program which is not installed (test/harness/programs.ts).
 * @param {{ testResults?: { assertionResults: { status: string, ancestorTitles: string[] }[] }[] }} results
 */
function programsMissing({ testResults = [] }) {
  const skipped = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "pending");
  return skipped
    .flatMap(({ ancestorTitles }) => ancestorTitles)
    .flatMap((title) => /^needs ([^:]+):/.exec(title)?.[1] ?? [])
    .map((program) => `tests with ${program}`);
}

async function temporal() {
  const module = new URL("../packages/dev/dist/servers/temporal-server.js", import.meta.url);
  const { findTemporal } = await import(module.href);
  return findTemporal(say);
}

// Jest runs ES modules only with this flag, and Node warns of it in each process.
function nodeOptions() {
  const own = "--experimental-vm-modules --disable-warning=ExperimentalWarning";
  return [process.env["NODE_OPTIONS"], own].filter(Boolean).join(" ");
}
