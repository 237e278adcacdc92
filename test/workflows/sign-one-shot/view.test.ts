// Which callbacks of a signature request report an end, and how a history of an older release is read (P1 §1.4, §6.2).
import { expect, test } from "@jest/globals";
import { workflowInfo } from "@temporalio/workflow";
import { oneShotView, reportsEnd } from "../../../src/workflows/sign-one-shot/view.js";
import { WorkflowRun } from "../workflow-run.js";

const kinds = ["signed", "failed", "cancelled", "Closed", "Cancelled", "Disposed", "webhook"];

async function ends(isReplaying: boolean): Promise<unknown> {
  const run = await WorkflowRun.start(async () => {
    Object.assign(workflowInfo().unsafe, { isReplaying });
    if (isReplaying) Object.assign(workflowInfo(), { currentBuildId: "of an older release" });
    return kinds.filter((kind) => reportsEnd({ id: kind, kind, at: "2026" }));
  });
  return run.result;
}

test("the states that a request does not leave report an end", async () => {
  expect(await ends(false)).toEqual(["signed", "failed", "cancelled"]);
});

test("in the history of an older release those of the post do, as they did then", async () => {
  expect(await ends(true)).toEqual(["Closed", "Cancelled", "Disposed"]);
});

test("only the service's answer closes a request", () => {
  const event = { id: "e", kind: "signed", at: "2026" };
  expect(oneShotView([event], undefined).closed).toBe(false);
  const open = { stamp: "1", state: "signing", fingerprint: "signing" } as const;
  expect(oneShotView([event], open)).toMatchObject({ state: "signing", closed: false });
  expect(oneShotView([], { ...open, state: "signed" })).toMatchObject({ closed: true });
});
