// The claim of a conference: another process that has it is asked for nothing but whether it is open (docs/decisions/0032). And the
// rejection of its call.
import { expect, test } from "vitest";
import { verifyIdentity } from "../../../src/workflows/verify-identity/workflow.js";
import { decisions, place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const other = "verifyIdentity/other";

function start(claimed?: object) {
  return WorkflowRun.start(
    () => verifyIdentity({ idConference: "c-1" }),
    {
      prepare: () => ({
        ...place,
        alertOccurrence: "0",
        isRejected: false,
        settings: { deadlineSeconds: 1_000 },
      }),
      claim: ({ from }) => claimed ?? (from === other ? {} : { owner: other }),
      ...decisions,
    },
    "verifyIdentity",
  );
}

test("a process that no worker answers for is open as long as Temporal says so", async () => {
  const run = await start();
  const [look] = run.open;
  expect(look).toMatchObject({
    type: "lookAt",
    input: { workflowId: other, only: "run" },
    maximumIntervalSeconds: 60,
  });
  await look?.answer({ found: { run: "open" } });
  expect(run.failure).toMatchObject({ type: "InvalidInput" });
  expect(run.failure?.message).toContain("idConference");
});

test("a look that a stranger failed is repeated after a minute, and an ended process gives its conference up", async () => {
  const run = await start();
  await run.open[0]?.fail({});
  await run.pass(59);
  expect(run.open).toEqual([]);
  await run.pass(1);
  await run.open[0]?.answer({ found: { run: "ended" } });
  expect(run.types).toEqual(["prepare", "claim", "lookAt", "lookAt", "claim", "ask"]);
});

test("two rejections at once are one request, which answers both", async () => {
  const run = await start({});
  const both = [await run.update("rejectCall", {}), await run.update("rejectCall", {})];
  await run.openCall("rejectCall").answer({ answer: "rejected" });
  for (const { answer } of both) expect(answer).toEqual({ answer: "rejected" });
  expect(run.callsOf("rejectCall")).toHaveLength(1);
});

test.each([
  [{ providerField: {} }, "providerField: is not known"],
  [{ providerFields: null }, "providerFields: must be an object"],
])("%j rejects no call", async (given, problem) => {
  const run = await start({});
  const { refused } = await run.update("rejectCall", given);
  expect(refused?.message).toBe(`Invalid input: ${problem}`);
  expect(run.types).not.toContain("rejectCall");
});

test.each([
  [[], "Removed the alert addresses"],
  [["desk@example.com"], "Registered the alert addresses from before again"],
])("an alert whose addresses were %j before says at its end: %s", async (before, said) => {
  const alert = { processId: "desk", emails: ["night@example.com"], before };
  const closed = { stamp: "1", state: "closed", isOver: true, fingerprint: "closed" };
  const run = await WorkflowRun.start(
    () => verifyIdentity({ idConference: "c-1", alert }),
    {
      prepare: () => ({
        ...{ ...place, alertOccurrence: "0", isRejected: false },
        settings: { deadlineSeconds: 1_000, pollIntervalSeconds: 60, askIntervalSeconds: 1 },
      }),
      ...{ claim: () => ({}), registerAlert: () => ({}), ask: () => closed },
      ...{ keepConference: () => undefined, keepAudit: () => undefined, removeAlert: () => ({}) },
      ...decisions,
    },
    "verifyIdentity",
  );
  expect(run.result).toMatchObject({
    timeline: expect.arrayContaining([expect.objectContaining({ event: said })]),
  });
});
