// The affidavits of a letter, and its cancellation (P2 §4.1).
import { expect, test } from "vitest";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { WorkflowRun } from "../workflow-run.js";

const submitted = {
  ...{ environment: "sandbox", account: "default", uniqueId: "u-1", affidavitsOnDemand: false },
  ...{ attachments: [], postServiceType: "Registered", submittedAt: "2026-01-01" },
  document: { uri: "document:1", sha256: "a", size: 1, mediaType: "application/pdf" },
  settings: {
    ...{ deadlineSeconds: 100, pollIntervalSeconds: 10, askIntervalSeconds: 10 },
    affidavitWindowSeconds: 0,
  },
};

test.each([
  [true, { answer: "requested", requestId: "q-1" }],
  [false, { answer: "notEligible" }],
])("affidavitsOnDemandEnabled %s at the submission: %j", async (affidavitsOnDemand, answered) => {
  const run = await WorkflowRun.start(() => sendPostal({} as never), {
    submit: () => ({ ...submitted, affidavitsOnDemand }),
    requestAffidavit: () => answered,
  });
  const { answer } = await run.update("requestAffidavit", { includeDocument: true });
  expect(answer).toEqual(answered);
  expect(run.types.includes("requestAffidavit")).toBe(affidavitsOnDemand);
});

test.each([
  [0, "late affidavits"],
  [1, "late affidavits; 1 listed at the close could not be fetched"],
])(
  "a closed letter with %d affidavits that cannot be fetched says so at once",
  async (missing, waitingFor) => {
    const snapshot = { stamp: "2026-01-01", state: "Closed", outcome: "Delivered", dates: {} };
    const run = await WorkflowRun.start(() => sendPostal({} as never), {
      submit: () => ({
        ...submitted,
        settings: { ...submitted.settings, affidavitWindowSeconds: 1_000 },
      }),
      ask: () => ({ snapshot: { ...snapshot, fingerprint: "Closed" }, documents: [], missing }),
    });
    await run.pass(20);
    expect((await run.query("status")) as ProcessStatus).toMatchObject({
      phase: "affidavits",
      waitingFor,
    });
    expect(run.memos.at(-1)?.waitingFor).toBe(waitingFor);
  },
);

test.each(["before", "during"])(
  "a cancellation that comes %s the last query decides the outcome",
  async (when) => {
    const settings = { ...submitted.settings, pollIntervalSeconds: 100 };
    const run = await WorkflowRun.start(() => sendPostal({} as never), {
      submit: () => ({ ...submitted, settings }),
      checkDecision: () => ({ principal: undefined }),
    });
    const opened = (type: string) => run.open.filter((call) => call.type === type);
    const answerWith = async (state: string) => {
      const stamp = state === "Closed" ? "2026-01-02" : "2026-01-01";
      const snapshot = { stamp, state, outcome: "Cancelled", dates: {} };
      for (let query; (query = opened("ask")[0]);)
        await query.answer({
          snapshot: { ...snapshot, fingerprint: state },
          ...{ documents: [], missing: 0 },
        });
    };
    if (when === "during") await run.pass(100);
    const cancelling = run.update("cancel", { by: "Ada" });
    if (when === "before") await run.pass(100);
    await answerWith("Draft");
    expect(run.result).toBeUndefined();
    await opened("cancel")[0]?.answer({ answer: "cancelled" });
    expect((await cancelling).answer).toEqual({ answer: "cancelled" });
    await answerWith("Closed");
    expect(run.result).toMatchObject({ outcome: "cancelled" });
  },
);
