// Tests run the TypeScript sources as ES modules through SWC; what a test starts as a process runs from dist/.
import { availableParallelism } from "node:os";

/** @type {import('jest').Config} */
export default {
  testEnvironment: "node",
  // The sources too, so that Jest finds which tests import one of them.
  roots: ["bench", "packages", "scripts", "src", "test"].map((name) => `<rootDir>/${name}`),
  testMatch: ["**/*.test.ts"],
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: {
    "^trustflow-client$": "<rootDir>/src/client.ts",
    "^trustflow/internal/(.*)\\.js$": "<rootDir>/src/$1",
    "^trustflow-(sandbox|dev)$": "<rootDir>/packages/$1/src/index.ts",
    "^trustflow-sandbox/cli$": "<rootDir>/packages/sandbox/src/cli/sandbox.ts",
    "^trustflow-dev/cli$": "<rootDir>/packages/dev/src/cli.ts",
    "^(\\.{1,2}/.*)\\.js$": "$1",
  },
  transform: {
    "\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2023" },
        module: { type: "es6" },
      },
    ],
  },
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/packages/[^/]+/dist/"],
  setupFiles: ["<rootDir>/test/harness/async-local-storage.ts"],
  globalSetup: "<rootDir>/test/harness/stack/global-setup.js",
  globalTeardown: "<rootDir>/test/harness/stack/global-teardown.js",
  testSequencer: "<rootDir>/test/harness/longest-first.cjs",
  // Most of a test from end to end is waiting: two such tests leave half of two cores idle.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 60_000,
};
