// What issueCredential brings to the generators of tests.
import type { Brought } from "../brought.js";
import { denied } from "../waits.js";
import { issuanceInput } from "./inputs.js";
import { issueCredentialUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: issueCredentialUnderTest,
  waits: {
    waits: [
      {
        name: "issuance-denied",
        kind: "held",
        input: (id) => issuanceInput(id, "", denied),
        ends: "initiated",
      },
    ],
  },
  paths: async () => (await import("./paths.js")).issueCredentialPaths,
  example: "credential.json",
  input: (intent) => issuanceInput(intent),
};
