// The demo's notices: one is read, one is refused without being opened (P2 §2.6, §3.4). Two have a letter behind them, which goes out
// when the notice is refused (P2 §2.1–2.7). The magic words are the sandbox's (docs/sandbox/scenarios.md).
import { putPdf, recipientAddress, windowedSettings } from "./scenario.js";
import type { Scenario } from "./scenario.js";
import { totalsLine } from "trustflow/internal/contracts/send-notice-batch/progress-line.js";

const notice = {
  subject: "Trustflow demonstration",
  body: "<p>This notice goes to a simulated provider.</p>",
  recipientAddress: "ada@example.com",
};

const notices = [
  { name: "notice-read", title: "A notice is read, with an attachment", outcome: "read" },
  {
    name: "notice-refused",
    title: "A notice is refused without being opened",
    outcome: "refused",
  },
];

export const noticeScenarios: Scenario[] = notices.map(({ name, title, outcome }) => ({
  process: "sendNotice",
  name,
  title,
  expected: outcome,
  effect: "evi-notice.submit",
  async play({ client }, intent) {
    const terms = Buffer.from("The terms of the demonstration");
    const document = await client.documents.put(terms, "text/plain");
    const handle = await client.sendNotice(name, {
      ...notice,
      recipientDisplayName: `sandbox:${outcome}`,
      lookupKey: intent,
      affidavitKinds: ["Submitted", "Closed"],
      attachments: [{ fileName: "terms.txt", document }],
      settings: windowedSettings,
    });
    return { handle };
  },
}));

const served = [
  {
    name: "served-by-notice",
    title: "A notice is read, and needs no letter",
    magic: "read",
    expected: "servedByNotice",
    effect: "evi-notice.submit",
  },
  {
    name: "served-by-post",
    title: "A notice is refused, and a letter follows it",
    magic: "refused",
    expected: "servedByPost",
    effect: "evi-post.submit",
  },
];

export const servingScenarios: Scenario[] = served.map(({ magic, ...scenario }) => ({
  process: "serveNotice",
  ...scenario,
  async play({ client }, intent) {
    const document = await putPdf(client, "This letter goes to a simulated provider.");
    const handle = await client.serveNotice(scenario.name, {
      notice: {
        ...notice,
        recipientDisplayName: `sandbox:${magic}`,
        lookupKey: intent,
        affidavitKinds: ["Submitted", "Closed"],
      },
      post: {
        document,
        recipientName: "sandbox:delivered",
        recipientAddress,
        lookupKey: intent,
        options: { certificationLevel: "Advanced" },
      },
      settings: { lookIntervalSeconds: 1, notice: windowedSettings, post: windowedSettings },
    });
    return { handle };
  },
}));

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
