// The demo's letters, with and without faults (P2 §2.1–2.5). The magic words are the sandbox's (docs/sandbox/scenarios.md).
import { setTimeout as delay } from "node:timers/promises";
import type { PostalHandle, SendPostalInput } from "trustflow-client";
import { putPdf, recipientAddress, windowedSettings } from "./scenario.js";
import type { Scenario, ScenarioContext } from "./scenario.js";

const settings = { ...windowedSettings, restingGraceSeconds: 4 };

interface Letter {
  name: string;
  title: string;
  magic: string;
  expected: string;
  options?: SendPostalInput["options"];
  meanwhile?(handle: PostalHandle, stage: ScenarioContext): Promise<void>;
}

const letters: Letter[] = [
  {
    name: "delivered",
    title: "Delivered, with affidavits",
    magic: "delivered",
    expected: "delivered",
  },
  {
    name: "undelivered",
    title: "Undelivered: nobody accepted the letter",
    magic: "undelivered",
    expected: "undelivered",
  },
  {
    name: "cancelled",
    title: "Cancelled before dispatch",
    magic: "cancellable",
    expected: "cancelled",
    async meanwhile(handle) {
      await tracked(handle);
      // The worker may be killed while it answers.
      const undecided = ["unavailable", "unknown", "pending"];
      while (undecided.includes((await handle.cancel()).answer)) await delay(500);
    },
  },
  {
    name: "callbacks-lost",
    title: "Every callback is lost; the poll finds the end",
    magic: "delivered,callbacks-lost",
    expected: "delivered",
  },
  {
    name: "cut-after-commit",
    title: "The connection drops after the provider committed the submit",
    magic: "delivered,submit=cut-after-commit",
    expected: "delivered",
  },
  {
    name: "error-after-commit",
    title: "The provider answers 500 after it committed the submit",
    magic: "delivered,submit=error-after-commit-500",
    expected: "delivered",
  },
  {
    name: "worker-killed",
    title: "The worker is killed during the submit",
    magic: "delivered,submit=slow-answer-4000",
    expected: "delivered",
    async meanwhile(_handle, { stack }) {
      await delay(1_500);
      await stack.role("worker").kill("SIGKILL");
      await stack.role("worker").restart();
    },
  },
  {
    name: "affidavit-on-demand",
    title: "An affidavit is requested on demand",
    magic: "delivered",
    expected: "delivered",
    options: { affidavitsOnDemandEnabled: true },
    async meanwhile(handle) {
      await tracked(handle);
      await handle.requestAffidavit({ includeDocument: true });
    },
  },
];

export const letterScenarios: Scenario[] = letters.map(
  ({ name, title, magic, expected, options, meanwhile }) => ({
    process: "sendPostal",
    name,
    title,
    expected,
    effect: "evi-post.submit",
    async play(stage, intent) {
      const text = "This letter goes to a simulated provider.";
      const document = await putPdf(stage.client, title, text);
      const handle = await stage.client.sendPostal(name, {
        document,
        recipientName: `sandbox:${magic}`,
        recipientAddress,
        lookupKey: intent,
        options: { certificationLevel: "Advanced", ...options },
        settings,
      });
      return { handle, meanwhile: meanwhile?.(handle, stage) };
    },
  }),
);

/** The submit has been answered. */
async function tracked(handle: PostalHandle): Promise<void> {
  for (;;) {
    const status = await handle.status().catch(() => undefined);
    if (status && status.phase !== "submitting") return;
    await delay(200);
  }
}
