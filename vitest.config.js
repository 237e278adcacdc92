// Tests run the TypeScript sources; what a test starts as a process runs from dist/.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.js";

const { TEST_RUN = "test", MUTANTS_FOLDER } = process.env;
const short = "{bench,packages,scripts,src,test}/**/*.test.ts";
const long = "test/long/**/*.test.ts";
const compose = "test/compose/*.test.ts";
const cluster = "test/cluster/*.test.ts";
// What users run, packages and pages, has the present release of Node, and the others have that of the image.
const longUnderLts = "test/long/!(package|docs)/**/*.test.ts";

/**
 * By its name (TEST_RUN): the test files of a run.
 * @type {Record<string, { include: string[], exclude?: string[], filesPerCore?: number }>}
 */
const runs = {
  test: { include: [short], exclude: [long, compose, cluster] },
  // The others of test/long run under the image's Node.
  "test of verify": {
    include: [short],
    exclude: [longUnderLts, compose, cluster],
    // With the pages, whose commands keep the cores busy.
    filesPerCore: 1.5,
  },
  // Of test/e2e the promises alone, because each run starts a system for each file.
  "test:lts": {
    include: ["test/e2e/promises.test.ts", longUnderLts],
    // Most start a whole system: a fourth one at a time makes each slower, and the run no faster.
    filesPerCore: 1.5,
  },
  "test:long": { include: [long] },
  "test:compose": { include: [compose] },
  "test:cluster": { include: [cluster] },
  record: { include: ["test/replay/record.ts"] },
  // Of the test files that scripts/mutants.mjs names.
  mutants: { include: ["test/mutants/driver.ts"] },
};

const run = runs[TEST_RUN];
if (!run) throw new Error(`TEST_RUN must be one of ${Object.keys(runs).join(", ")}`);
// Much of a test is waiting.
const { include, exclude = [], filesPerCore = 2 } = run;
const never = ["**/{dist,node_modules}/**", ...exclude];

/** @param {string} path */
const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @type {Record<string, string> | undefined} by path: sources with their mutants */
const mutated =
  MUTANTS_FOLDER && JSON.parse(readFileSync(`${MUTANTS_FOLDER}/sources.json`, "utf8"));

export default defineConfig({
  plugins: mutated ? [{ name: "mutants", enforce: "pre", load: (path) => mutated[path] }] : [],
  resolve: {
    alias: [
      { find: /^trustflow-client$/, replacement: at("src/client.ts") },
      { find: /^trustflow\/internal\/(.*)\.js$/, replacement: at("src/$1.ts") },
      { find: /^trustflow-(sandbox|dev)$/, replacement: at("packages/$1/src/index.ts") },
      { find: "trustflow-sandbox/cli", replacement: at("packages/sandbox/src/cli/sandbox.ts") },
      { find: "trustflow-dev/cli", replacement: at("packages/dev/src/cli.ts") },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include,
          exclude: [...never, "**/*.alone.test.ts"],
          // Test files share a process and its modules: to load these again for each file would take longer than most tests.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          // They change what a process has once: its clock, and Temporal's library.
          include: include
            .filter((glob) => glob.endsWith("*.test.ts"))
            .map((glob) => glob.replace(/\*\.test\.ts$/, "*.alone.test.ts")),
          exclude: never,
        },
      },
    ],
    setupFiles: ["test/harness/each-file.ts"],
    globalSetup: [
      TEST_RUN === "test:compose"
        ? "test/compose/global-set-up.ts"
        : "test/harness/stack/global-setup.js",
    ],
    sequence: { sequencer: LongestFirst },
    server: { deps: { external: [/\/dist\//] } },
    maxWorkers: Math.ceil(filesPerCore * availableParallelism()),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    silent: "passed-only",
    // Keeps compiled sources between runs; those with mutants differ each time.
    experimental: { fsModuleCache: !mutated },
  },
});
