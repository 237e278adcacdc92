// Presentations for tests: each request carries an intent that the sandbox's ledger knows.
import type { PresentCredentialInput } from "../../../src/client.js";

/** `words`: those of docs/sandbox/scenarios.md, in the first request; they hold for the later ones too. */
export function presentationInput(
  intent: string,
  words = "",
  more: Partial<PresentCredentialInput> = {},
): PresentCredentialInput {
  const providerFields = { reference: intent, name: "Example" };
  return {
    operator: {
      providerFields: { ...providerFields, ...(words === "" ? {} : { sandbox: words }) },
    },
    template: { providerFields },
    verificationTemplate: { providerFields },
    service: { providerFields },
    init: { providerFields },
    ...more,
  };
}
