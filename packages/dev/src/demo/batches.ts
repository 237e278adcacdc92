// The demo's batch: a thousand notices from one list, with a report (P2 §2.8–2.10, §4.3). The magic words are the sandbox's
// (docs/sandbox/scenarios.md).
import { totalsLine } from "trustflow/internal/contracts/send-notice-batch/progress-line.js";
import type { Scenario } from "./scenario.js";

const RECIPIENTS = 1_000;
/** Of a hundred recipients so many refuse, and so many cannot be reached; all others read. */
const REFUSED = 3;
const FAILED = 1;

function list(): Buffer {
  const rows = Array.from({ length: RECIPIENTS }, (_, index) => {
    const place = index % 100;
    const word = place < REFUSED ? "refused" : place < REFUSED + FAILED ? "failed" : "read";
    return `recipient.${index}@example.com;Recipient ${index};demo-${index};sandbox:${word}`;
  });
  return Buffer.from(["address;legalname;lookupkey;displayname", ...rows, ""].join("\r\n"));
}

export const batchScenarios: Scenario[] = [
  {
    process: "sendNoticeBatch",
    name: "batch",
    title: `A batch of ${RECIPIENTS.toLocaleString("en")} notices, with a report`,
    expected: "closed",
    effect: "evi-notice.startBatch",
    async play({ client, progress }, intent) {
      const recipients = await client.documents.put(list(), "text/csv");
      const handle = await client.sendNoticeBatch("batch", {
        description: intent,
        subject: "Trustflow demonstration",
        body: "<p>This notice goes to a simulated provider.</p>",
        recipients,
        affidavitKinds: ["Closed"],
        allowRefusal: true,
        // Days of the provider pass in seconds, so ours are seconds too.
        settings: {
          progressIntervalSeconds: 1,
          pollIntervalSeconds: 10,
          affidavitWindowSeconds: 4,
        },
      });
      const meanwhile = async () => {
        const { counts, report } = await handle.result();
        progress(
          `batch                  report: ${totalsLine(counts.outcomes, counts.recipients, "without an outcome")}`,
        );
        progress(`batch                  ${report?.csv.uri} has a row for each recipient`);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
];
