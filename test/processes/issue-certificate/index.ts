// What issueCertificate brings to the generators of tests.
import type { Brought } from "../brought.js";
import { holderInput } from "./inputs.js";
import { issueCertificateUnderTest } from "./under-test.js";
import { certificateWaits } from "./waits.js";

export const brought: Brought = {
  underTest: issueCertificateUnderTest,
  waits: certificateWaits,
  paths: async () => (await import("./paths.js")).issueCertificatePaths,
  example: "holder.json",
  input: (intent) => holderInput(intent),
};
