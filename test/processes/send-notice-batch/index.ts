// What sendNoticeBatch brings to the generators of tests.
import type { Brought } from "../brought.js";
import { batchInput } from "./inputs.js";
import { sendNoticeBatchUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: sendNoticeBatchUnderTest,
  paths: async () => (await import("./paths.js")).sendNoticeBatchPaths,
  example: "batch.json",
  input: (intent) => batchInput(intent),
};
