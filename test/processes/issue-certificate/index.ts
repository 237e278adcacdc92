// What issueCertificate brings to the generators of tests.
import type { Brought } from "../brought.js";
import { holderInput } from "./inputs.js";
import { issueCertificateUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: issueCertificateUnderTest,
  paths: async () => (await import("./paths.js")).issueCertificatePaths,
  example: "holder.json",
  input: (intent) => holderInput(intent),
};
