// Letters for tests: real PDFs, an intent in the caller's own data, and the sandbox's magic words (docs/sandbox/scenarios.md).
import type { SendPostalInput } from "../../../src/client.js";
import { pdf } from "../../../packages/sandbox/src/exchange/pdf.js";
import type { Stopped } from "../stopped.js";

export const letterPdf = pdf(["A letter of a test"]);

export const recipientAddress = {
  streetAddress: "Calle Mayor 1",
  ...{ postalCode: "28013", locality: "Madrid", region: "Madrid", country: "ES" },
};

/** An input whose intent is its `lookupKey`, by which the sandbox's ledger knows it. */
export function letterInput(
  intent: string,
  magic: string,
  more: Partial<SendPostalInput> = {},
): SendPostalInput {
  return {
    document: { base64: letterPdf.toString("base64"), mediaType: "application/pdf" },
    recipientName: `sandbox:${magic}`,
    recipientAddress,
    lookupKey: intent,
    settings: fastSettings,
    ...more,
  };
}

/** Days of the sandbox pass in seconds, so the spans of a test are seconds. */
export const fastSettings = {
  pollIntervalSeconds: 3,
  askIntervalSeconds: 1,
  affidavitWindowSeconds: 3,
  restingGraceSeconds: 3,
};

/** The provider takes the account's credentials for wrong. */
export const refusedLetter: Stopped<SendPostalInput> = {
  command: "send-postal",
  example: "letter.json",
  stopped: (letter, id) => ({
    ...letter,
    recipientName: "sandbox:submit=reject-401*",
    lookupKey: id,
  }),
};
