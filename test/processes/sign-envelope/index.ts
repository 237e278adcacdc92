// What signEnvelope brings to the generators of tests.
import type { Brought } from "../brought.js";
import { envelopeInput } from "./inputs.js";
import { signEnvelopeUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: signEnvelopeUnderTest,
  paths: async () => (await import("./paths.js")).signEnvelopePaths,
  example: "envelope.json",
  input: (intent) => envelopeInput(intent),
};
