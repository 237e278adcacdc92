// Batches for tests: an intent in the caller's own data, and the sandbox's magic words for each recipient (docs/sandbox/scenarios.md).
import type { SendNoticeBatchInput } from "../../../src/client.js";

/** Days of the sandbox pass in seconds, so the spans of a test are seconds. */
export const fastSettings = {
  progressIntervalSeconds: 1,
  pollIntervalSeconds: 3,
  affidavitWindowSeconds: 3,
  failureBudgetCount: 0,
  failureBudgetPercent: 0,
};

export const recipientsCsv = (rows: string[][]) => ({
  base64: Buffer.from(
    [["address", "legalname", "displayname"], ...rows].map((row) => `${row.join(";")}\n`).join(""),
  ).toString("base64"),
  mediaType: "text/csv",
});

/** One recipient for each of the magic words. */
export function recipientsOf(words: readonly string[], host = "example.com") {
  return recipientsCsv(
    words.map((magic, index) => [`r${index}@${host}`, `Recipient ${index}`, `sandbox:${magic}`]),
  );
}

/** An input whose intent is its `description`, by which the sandbox's ledger knows it. */
export function batchInput(
  intent: string,
  words: readonly string[] = ["read", "refused"],
  more: Partial<SendNoticeBatchInput> = {},
): SendNoticeBatchInput {
  return {
    description: intent,
    subject: "A notice of a test",
    body: "<p>A notice of a test</p>",
    recipients: recipientsOf(words),
    allowRefusal: true,
    settings: fastSettings,
    ...more,
  };
}

export function withAttachment(text = "An attachment of a test") {
  return {
    fileName: "terms.txt",
    document: { base64: Buffer.from(text).toString("base64"), mediaType: "text/plain" },
    includeOnAffidavits: true,
  };
}
