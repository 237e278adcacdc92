// What verifyIdentity brings to the generators of tests.
import type { Brought } from "../brought.js";
import { identityInput } from "./inputs.js";
import { verifyIdentityUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: verifyIdentityUnderTest,
  paths: async () => (await import("./paths.js")).verifyIdentityPaths,
  example: "identity.json",
  input: (intent) => identityInput(intent),
};
