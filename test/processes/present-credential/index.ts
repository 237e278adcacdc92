// What presentCredential brings to the generators of tests.
import type { Brought } from "../brought.js";
import { denied } from "../waits.js";
import { presentationInput } from "./inputs.js";
import { presentCredentialUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: presentCredentialUnderTest,
  waits: {
    waits: [
      {
        name: "presentation-denied",
        kind: "held",
        input: (id) => presentationInput(id, "", denied),
        ends: "initiated",
      },
    ],
  },
  paths: async () => (await import("./paths.js")).presentCredentialPaths,
  example: "presentation.json",
  input: (intent) => presentationInput(intent),
};
