// Everything that must be green before a change goes in, quickest first: it stops at the first red, but runs both kinds of tests.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { packages } from "./packages.mjs";
import { bin, npm, runBuild, runStep, say } from "./steps.mjs";
import { supplyChain } from "./supply-chain.mjs";
import { ltsNode } from "./lts.mjs";
import { closingLine, failedTests, noTests } from "./test.mjs";

/**
 * Did each test that covers an item of the specification run, and pass?
 * @param {string[]} results
 */
const covering = (results) => [
  ...["run", "coverage:spec", "--"],
  ...results.flatMap((file) => ["--results", file]),
];

/** It needs hours, so each night runs it. */
const nightly = "test:cluster";

/**
 * @param {{ isNightly?: boolean }} [options]
 * @returns {Promise<number>}
 */
export async function verify({ isNightly = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-verify-"));
  removeOnExit(folder);
  /** @type {string[]} */
  const results = [];
  /** @type {string[]} */
  const notRun = isNightly ? [] : [nightly];
  /**
   * Keeps what its tests found, for the closing line.
   * @param {string[]} command of npm
   * @param {Record<string, string>} [env]
   */
  const runTests = (command, env) => {
    const file = join(folder, `${results.length}.json`);
    const code = runStep(...npm(command), { env: { ...env, TEST_RESULTS_FILE: file } });
    results.push(file);
    return code;
  };
  const lts = async () => {
    const run = (await ltsNode()) ? "test:lts" : "test:long";
    if (run === "test:long") notRun.push("test:lts");
    return runTests(["run", run]);
  };
  const compose = async () => {
    await import("./typescript.mjs");
    const engine = new URL("../test/compose/engine.ts", import.meta.url);
    /** @type {string | undefined} */
    const obstacle = (await import(engine.href)).obstacle();
    if (obstacle === undefined) return runTests(["run", "test:compose"]);
    say(`no engine can be started here: ${obstacle}`);
    notRun.unshift("test:compose");
    return 0;
  };
  /**
   * Counts a check without results of Vitest as one test.
   * @param {number} code 0 if it passed
   */
  const counted = async (code) => {
    const isGood = code === 0;
    const file = join(folder, `${results.length}.json`);
    results.push(file);
    const found = { ...noTests, numPassedTests: +isGood, numFailedTests: +!isGood };
    await writeFile(file, JSON.stringify(found));
    return code;
  };
  /** @param {string[]} options */
  const simulate = async (...options) =>
    counted(await runStep(...npm(["run", "simulate", "--", ...options])));
  /** @type {Record<string, () => Promise<number>>} */
  const checks = {
    format: () => runStep(bin("oxfmt"), ["--check", "."]),
    lint: () => runStep(bin("oxlint"), ["--type-aware", "--deny-warnings"]),
    types: () => runStep(bin("tsc"), ["--noEmit"]),
    "dead code": () => runStep(bin("knip"), []),
    "supply chain": () => supplyChain((check) => notRun.push(check)),
    build: async () => ((await runBuild()) ? 0 : 1),
    packages,
  };
  /** @type {Record<string, () => Promise<number>>} */
  const tests = {
    test: () => runTests(["test"], { TEST_RUN: "test of verify" }),
    "test:lts": lts,
    "tests that cover the specification": () => runTests(covering(results)),
    "test:compose": compose,
    ...(isNightly && {
      [nightly]: () => runTests(["run", nightly]),
      simulate: () => simulate("--for", "8h"),
      defects: () => simulate("--defect", "kept"),
    }),
  };
  for (const [name, run] of Object.entries(checks))
    if ((await step(name, run)) !== 0) {
      console.log("0 passed, 1 failed");
      return 1;
    }
  let worst = 0;
  for (const [name, run] of Object.entries(tests))
    worst = Math.max(worst, await step(name, run, counted));
  for (const failed of await failedTests(results)) say(`failed: ${failed}`);
  console.log(await closingLine(results, notRun));
  return worst;
}

/**
 * @param {string} name
 * @param {() => Promise<number>} run
 * @param {(code: number) => Promise<number>} [onThrown] makes the code of a run that threw, and so has left no results
 */
async function step(name, run, onThrown = async (code) => code) {
  const started = Date.now();
  say(`── ${name}`);
  const code = await run().catch((/** @type {Error} */ { message }) => {
    say(message);
    return onThrown(1);
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  say(`── ${name}: ${code === 0 ? "green" : "RED"}, ${seconds} s`);
  return code;
}
