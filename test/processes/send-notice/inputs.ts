// Notices for tests: an intent in the caller's own data, and the sandbox's magic words (docs/sandbox/scenarios.md).
import type { SendNoticeInput } from "../../../src/client.js";
import { fastSettings as postalSettings } from "../send-postal/inputs.js";

/** Days of the sandbox pass in seconds, so the spans of a test are seconds. */
const { restingGraceSeconds: _, ...fastSettings } = postalSettings;
export { fastSettings };

export const noticeAttachment = Buffer.from("An attachment of a test");

/** An input whose intent is its `lookupKey`, by which the sandbox's ledger knows it. */
export function noticeInput(
  intent: string,
  magic: string,
  more: Partial<SendNoticeInput> = {},
): SendNoticeInput {
  return {
    subject: "A notice of a test",
    body: "<p>A notice of a test</p>",
    recipientAddress: "ada@example.com",
    recipientDisplayName: `sandbox:${magic}`,
    lookupKey: intent,
    affidavitKinds: ["Submitted", "Closed"],
    settings: fastSettings,
    ...more,
  };
}

export function withAttachment(bytes: Buffer = noticeAttachment) {
  return {
    fileName: "terms.txt",
    document: { base64: bytes.toString("base64"), mediaType: "text/plain" },
    includeOnAffidavits: true,
  };
}
