// What sendPostal brings to the generators of tests.
import type { Brought } from "../brought.js";
import { letterInput } from "./inputs.js";
import { sendPostalUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: sendPostalUnderTest,
  paths: async () => (await import("./paths.js")).sendPostalPaths,
  example: "letter.json",
  input: (intent) => letterInput(intent, "delivered"),
};
