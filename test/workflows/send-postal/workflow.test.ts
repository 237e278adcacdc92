// An affidavit on demand of a letter (P2 §4.1).
import { expect, test } from "vitest";
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
