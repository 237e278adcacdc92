// The demo's notices: one is read, one is refused without being opened (P2 §2.6, §3.4). The magic words are the sandbox's
// (docs/sandbox/scenarios.md).
import type { Scenario } from "./scenario.js";

/** Days of the provider pass in seconds, so ours are seconds too. */
const settings = { pollIntervalSeconds: 5, askIntervalSeconds: 1, affidavitWindowSeconds: 4 };

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
      subject: "Trustflow demonstration",
      body: "<p>This notice goes to a simulated provider.</p>",
      recipientAddress: "ada@example.com",
      recipientDisplayName: `sandbox:${outcome}`,
      lookupKey: intent,
      affidavitKinds: ["Submitted", "Closed"],
      attachments: [{ fileName: "terms.txt", document }],
      settings,
    });
    return { handle };
  },
}));
