// Tests run the TypeScript sources as ES modules through SWC; what a test starts as a process runs from dist/.
import { availableParallelism } from "node:os";

/** @type {import('jest').Config} */
export default {
  testEnvironment: "node",
  // The sources too, so that Jest finds which tests import one of them.
  roots: ["<rootDir>/bench", "<rootDir>/scripts", "<rootDir>/src", "<rootDir>/test"],
  testMatch: ["**/*.test.ts"],
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": "$1" },
  transform: {
    "\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2023" },
        module: { type: "es6" },
      },
    ],
  },
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  setupFiles: ["<rootDir>/test/harness/async-local-storage.ts"],
  globalSetup: "<rootDir>/test/harness/stack/global-setup.js",
  globalTeardown: "<rootDir>/test/harness/stack/global-teardown.js",
  testSequencer: "<rootDir>/test/harness/longest-first.cjs",
  // Most of a test from end to end is waiting: two such tests leave half of two cores idle.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 60_000,
};
