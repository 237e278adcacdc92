// The affidavits of a letter (P2 §4.1).
import { expect, test } from "vitest";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { WorkflowRun } from "../workflow-run.js";

const document = { uri: "document:1", sha256: "a", size: 1, mediaType: "application/pdf" };

test.each([
  [true, { answer: "requested", requestId: "q-1" }],
  [false, { answer: "notEligible" }],
])("affidavitsOnDemandEnabled %s at the submission: %j", async (affidavitsOnDemand, answered) => {
  const run = await WorkflowRun.start(() => sendPostal({} as never), {
    submit: () => ({
      ...{ environment: "sandbox", account: "default", uniqueId: "u-1", affidavitsOnDemand },
      ...{ document, attachments: [], postServiceType: "Registered", submittedAt: "2026-01-01" },
      settings: { deadlineSeconds: 100, pollIntervalSeconds: 10, askIntervalSeconds: 10 },
    }),
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
        ...{
          environment: "sandbox",
          account: "default",
          uniqueId: "u-1",
          affidavitsOnDemand: false,
        },
        ...{ document, attachments: [], postServiceType: "Registered", submittedAt: "2026-01-01" },
        settings: {
          ...{ deadlineSeconds: 100, pollIntervalSeconds: 10, askIntervalSeconds: 10 },
          affidavitWindowSeconds: 1000,
        },
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
