// What signEnvelope brings to the generators of tests.
import type { Brought } from "../brought.js";
import { denied } from "../waits.js";
import { envelopeInput } from "./inputs.js";
import { signEnvelopeUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: signEnvelopeUnderTest,
  waits: {
    waits: [
      {
        name: "envelope-denied",
        kind: "held",
        input: (id) => envelopeInput(id, "", denied),
        ends: "sent",
      },
    ],
  },
  paths: async () => (await import("./paths.js")).signEnvelopePaths,
  example: "envelope.json",
  input: (intent) => envelopeInput(intent),
};
