// Envelopes for tests: their certificate request and their files carry an intent that the sandbox's ledger knows.
import type { SignEnvelopeInput } from "../../../src/client.js";
import { letterPdf } from "../send-postal/inputs.js";

/** `words`: those of docs/sandbox/scenarios.md. The sandbox tells the intent of a file by its name. */
export function envelopeInput(
  intent: string,
  words = "",
  more: Partial<SignEnvelopeInput> & { names?: string[] } = {},
): SignEnvelopeInput {
  const { names = ["agreement", "annex", "terms"], ...rest } = more;
  const document = { base64: letterPdf.toString("base64"), mediaType: "application/pdf" };
  return {
    request: {
      providerFields: { reference: intent, ...(words === "" ? {} : { sandbox: words }) },
    },
    documents: names.map((name) => ({ name: `${intent}--${name}.pdf`, document })),
    envelope: { providerFields: { Name: "Contract" } },
    ...rest,
  };
}
