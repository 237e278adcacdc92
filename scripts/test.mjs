// Runs the tests: gets the two Temporal servers they need, runs Jest, and says the closing line.
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeWithUs } from "../src/local/watchdog.js";
import { root, runStep, say } from "./steps.mjs";

/**
 * @param {string[]} args for Jest
 * @returns {Promise<number>}
 */
export async function test(args) {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-test-"));
  removeWithUs(folder);
  try {
    const results = process.env["TEST_RESULTS_FILE"] ?? join(folder, "results.json");
    const code = await runStep(
      process.execPath,
      [
        join(root, "node_modules", "jest", "bin", "jest.js"),
        ...args,
        "--json",
        `--outputFile=${results}`,
      ],
      {
        env: { ...(await servers()), NODE_OPTIONS: nodeOptions() },
        stdout: "stderr",
      },
    );
    if (!process.env["TEST_RESULTS_FILE"]) console.log(await closingLine(results));
    return code;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** @param {string} file what Jest wrote */
export async function closingLine(file) {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return "0 passed, 1 failed";
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } =
    JSON.parse(text);
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
  return `${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed${skipped}`;
}

async function servers() {
  /** @param {string} name */
  const local = (name) => import(new URL(`../dist/local/${name}.js`, import.meta.url).href);
  const [{ findTemporal }, { findTestServer }] = await Promise.all([
    local("temporal-server"),
    local("time-skipping"),
  ]);
  const [cli, testServer] = await Promise.all([findTemporal(say), findTestServer(say)]);
  return { TEMPORAL_CLI_PATH: cli, TEMPORAL_TEST_SERVER_PATH: testServer };
}

// Jest runs ES modules only with this flag, and Node warns of it in each process.
function nodeOptions() {
  const own = "--experimental-vm-modules --disable-warning=ExperimentalWarning";
  return [process.env["NODE_OPTIONS"], own].filter(Boolean).join(" ");
}
