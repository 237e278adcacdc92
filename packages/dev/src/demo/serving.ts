// The demo's notices with a letter behind them: one is read, and one is refused, so that the letter goes out (P2 §2.1–2.7). The magic
// words are the sandbox's (docs/sandbox/scenarios.md).
import { pdf } from "trustflow-sandbox";
import type { Scenario } from "./scenario.js";

/** Days of the provider pass in seconds, so ours are seconds too. */
const settings = { pollIntervalSeconds: 5, askIntervalSeconds: 1, affidavitWindowSeconds: 4 };

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
    const text = ["Trustflow demonstration", "This letter goes to a simulated provider."];
    const document = await client.documents.put(pdf(text), "application/pdf");
    const handle = await client.serveNotice(scenario.name, {
      notice: {
        subject: "Trustflow demonstration",
        body: "<p>This notice goes to a simulated provider.</p>",
        recipientAddress: "ada@example.com",
        recipientDisplayName: `sandbox:${magic}`,
        lookupKey: intent,
        affidavitKinds: ["Submitted", "Closed"],
      },
      post: {
        document,
        recipientName: "sandbox:delivered",
        recipientAddress: {
          streetAddress: "Calle Mayor 1",
          postalCode: "28013",
          locality: "Madrid",
          region: "Madrid",
          country: "ES",
        },
        lookupKey: intent,
        options: { certificationLevel: "Advanced" },
      },
      settings: { lookIntervalSeconds: 1, notice: settings, post: settings },
    });
    return { handle };
  },
}));
