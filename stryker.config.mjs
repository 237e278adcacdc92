// What `npm run mutants` changes, and the tests that must notice it: those that need no Temporal server (test/mutants.md).

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
  plugins: ["@stryker-mutator/vitest-runner"],
  testRunner: "vitest",
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
