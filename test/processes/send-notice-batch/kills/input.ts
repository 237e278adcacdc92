// A large batch of which each recipient has an ending of its own (docs/sandbox/scenarios.md): read, refused, failed, and what happens to callbacks.
import type { SendNoticeBatchInput } from "../../../../src/client.js";
import { recipientsCsv, withAttachment } from "../inputs.js";

/** Of each twenty recipients. */
const words = [
  ...Array.from({ length: 9 }, () => "read"),
  "refused",
  "failed",
  "failed-recovered",
  "received",
  "delivered",
  "sent",
  "read,callbacks-doubled",
  "read,callbacks-reordered",
  "read,callbacks-delayed",
  "refused,callbacks-lost",
  "read,affidavits-never",
];
/** One of so many is invalid, and one of so many gets no notice, since the batch asks for no commitment. */
const INVALID_EACH = 100;
const NOT_MADE_EACH = 90;

/** The shortest that there is, in minutes: what nobody answers is closed after it. */
const TIME_TO_LIVE = 60;

function rowOf(index: number): string[] {
  const isInvalid = index % INVALID_EACH === 7;
  const word = index % NOT_MADE_EACH === 8 ? "accepted" : words[index % words.length];
  return [`r${index}@example.com`, isInvalid ? "" : `Recipient ${index}`, `sandbox:${word}`];
}

export function largeBatch(intent: string, rows: number): SendNoticeBatchInput {
  return {
    description: intent,
    subject: "A notice of a test",
    body: "<p>A notice of a test</p>",
    recipients: recipientsCsv(Array.from({ length: rows }, (_, index) => rowOf(index))),
    onInvalid: "skip-invalid",
    attachments: [withAttachment()],
    timeToLive: TIME_TO_LIVE,
    affidavitKinds: ["Read", "Closed"],
    allowRefusal: true,
    settings: {
      progressIntervalSeconds: 1,
      // The test says when a sweep is due.
      pollIntervalSeconds: 86_400,
      affidavitWindowSeconds: 1,
      failureBudgetPercent: 100,
      collectAffidavits: true,
    },
  };
}
