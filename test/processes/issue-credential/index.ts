// What issueCredential brings to the generators of tests.
import type { Brought } from "../brought.js";
import { issuanceInput } from "./inputs.js";
import { issueCredentialUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: issueCredentialUnderTest,
  paths: async () => (await import("./paths.js")).issueCredentialPaths,
  example: "credential.json",
  input: (intent) => issuanceInput(intent),
};
