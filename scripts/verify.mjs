// Everything that must be green before a change goes in, quickest first: it stops at the first red, but runs both kinds of tests.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { packages } from "./packages.mjs";
import { bin, npm, runBuild, runStep, say } from "./steps.mjs";
import { supplyChain } from "./supply-chain.mjs";
import { ltsNode } from "./lts.mjs";
import { closingLine } from "./test.mjs";

/**
 * Did each test that covers an item of the specification run, and pass?
 * @param {string[]} results
 */
const covering = (results) => [
  ...["run", "coverage:spec", "--"],
  ...results.flatMap((file) => ["--results", file]),
];

/** @returns {Promise<number>} */
export async function verify() {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-verify-"));
  removeOnExit(folder);
  /** @param {string} name */
  const resultsOf = (name) => join(folder, `${name}.json`);
  const [results, longResults, composeResults, coverResults] = [
    resultsOf("test"),
    resultsOf("long"),
    resultsOf("compose"),
    resultsOf("coverage"),
  ];
  /** @type {string[]} */
  const notRun = [];
  /** @param {string} file */
  const into = (file) => ({ env: { TEST_RESULTS_FILE: file } });
  /** @type {[string, () => Promise<number>][]} */
  const steps = [
    ["format", () => runStep(bin("oxfmt"), ["--check", "."])],
    ["lint", () => runStep(bin("oxlint"), ["--type-aware", "--deny-warnings"])],
    ["types", () => runStep(bin("tsc"), ["--noEmit"])],
    ["dead code", () => runStep(bin("knip"), [])],
    ["supply chain", () => supplyChain((check) => notRun.push(check))],
    ["build", async () => ((await runBuild()) ? 0 : 1)],
    ["packages", packages],
    [
      "test",
      () =>
        runStep(...npm(["test"]), {
          env: { TEST_RESULTS_FILE: results, TEST_RUN: "test of verify" },
        }),
    ],
    [
      "test:lts",
      async () => {
        const run = (await ltsNode()) ? "test:lts" : "test:long";
        if (run === "test:long") notRun.push("test:lts");
        return runStep(...npm(["run", run]), into(longResults));
      },
    ],
    [
      "test:compose",
      // Where no engine can be started, or its images are not built yet, its tests are skipped, and the closing line says so.
      () =>
        runStep(...npm(["run", "test:compose"]), {
          env: { TEST_RESULTS_FILE: composeResults, TEST_COMPOSE: "optional" },
        }),
    ],
    [
      "tests that cover the specification",
      () => runStep(...npm(covering([results, longResults])), into(coverResults)),
    ],
  ];
  let worst = 0;
  for (const [name, run] of steps) {
    const started = Date.now();
    say(`── ${name}`);
    const code = await run().catch((/** @type {Error} */ { message }) => {
      say(message);
      return 1;
    });
    say(
      `── ${name}: ${code === 0 ? "green" : "RED"}, ${((Date.now() - started) / 1000).toFixed(1)} s`,
    );
    if (code !== 0 && !name.startsWith("test")) {
      console.log("0 passed, 1 failed");
      return code;
    }
    worst = Math.max(worst, code);
  }
  console.log(await closingLine([results, longResults, composeResults, coverResults], notRun));
  return worst;
}
