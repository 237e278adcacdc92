// What signOneShot brings to the generators of tests.
import type { Brought } from "../brought.js";
import { signerInput } from "./inputs.js";
import { signOneShotUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: signOneShotUnderTest,
  paths: async () => (await import("./paths.js")).signOneShotPaths,
  example: "agreement.json",
  input: (intent) => signerInput(intent),
};
