// Presentations for tests: each request carries an intent that the sandbox's ledger knows.
import type { PresentCredentialInput } from "../../../src/client.js";
import { issuanceInput } from "../issue-credential/inputs.js";

/** `words`: those of docs/sandbox/scenarios.md, in the first request; they hold for the later ones too. */
export function presentationInput(
  intent: string,
  words = "",
  more: Partial<PresentCredentialInput> = {},
): PresentCredentialInput {
  const { template, ...requests } = issuanceInput(intent, words);
  return { ...requests, template, verificationTemplate: template, ...more };
}
