// Issuances for tests: each request carries an intent that the sandbox's ledger knows.
import type { IssueCredentialInput } from "../../../src/client.js";

/** `words`: those of docs/sandbox/scenarios.md, in the first request; they hold for the later ones too. */
export function issuanceInput(
  intent: string,
  words = "",
  more: Partial<IssueCredentialInput> = {},
): IssueCredentialInput {
  const providerFields = { reference: intent, name: "Example" };
  return {
    operator: {
      providerFields: { ...providerFields, ...(words === "" ? {} : { sandbox: words }) },
    },
    template: { providerFields },
    service: { providerFields },
    init: { providerFields },
    ...more,
  };
}
