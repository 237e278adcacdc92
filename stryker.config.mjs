// What `npm run mutants` changes, and the tests that must notice it: those that need no Temporal server (test/mutants.md).

// Stryker runs, for each change, every test file that imports the changed one. `MUTANTS_TESTS` narrows that: globs, with commas.
const tests =
  process.env["MUTANTS_TESTS"] ??
  "test/{batch/items,callbacks,cleanup,journal,temporal/codec,workflows/runtime}/**/*.test.ts,test/activities/runtime/*.test.ts";

/** @type {import('@stryker-mutator/core').PartialStrykerOptions} */
export default {
  mutate: [
    "src/activities/runtime/effect.ts",
    "src/batch/items/*.ts",
    "src/callbacks/receiver/*.ts",
    "src/callbacks/relay/*.ts",
    "src/cleanup/erase.ts",
    "src/journal/*.ts",
    "src/temporal/codec/*.ts",
    "src/workflows/runtime/tracking.ts",
  ],
  plugins: ["@stryker-mutator/jest-runner"],
  testRunner: "jest",
  testRunnerNodeArgs: ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"],
  jest: {
    config: {
      testMatch: tests.split(/,(?![^{]*\})/).map((glob) => `**/${glob}`),
      testPathIgnorePatterns: [
        "[.]temporal[.]test[.]ts$",
        "/own-namespaces[.]",
        "/codec/(encryption|forged-answers)[.]",
      ],
    },
    configFile: "jest.config.js",
  },
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  disableTypeChecks: false,
  // Stryker would rewrite the tsconfig with an API that TypeScript 7 does not have.
  tsconfigFile: "",
  concurrency: 2,
  tempDirName: ".trustflow-mutants",
  cleanTempDir: "always",
  reporters: ["clear-text", "json", "progress-append-only"],
  jsonReporter: { fileName: "artifacts/mutants.json" },
};
