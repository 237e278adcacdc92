// What presentCredential brings to the generators of tests.
import type { Brought } from "../brought.js";
import { presentationInput } from "./inputs.js";
import { presentCredentialUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: presentCredentialUnderTest,
  paths: async () => (await import("./paths.js")).presentCredentialPaths,
  example: "presentation.json",
  input: (intent) => presentationInput(intent),
};
