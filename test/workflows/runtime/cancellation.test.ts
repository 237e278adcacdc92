// Temporal's own cancellation has no signature: whether it counts is asked until it is known, however long that takes.
import { expect, test } from "vitest";
import type { SendPostalInput } from "../../../src/contracts/send-postal/contract.js";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { WorkflowRun } from "../workflow-run.js";

test("the check of a cancellation has no time limit, and its failure is no end of it", async () => {
  const run = await WorkflowRun.start(() => sendPostal({} as SendPostalInput), {
    withdraw: () => "withdrawn",
  });
  await run.cancel();
  for (let days = 0; days < 60; days += 20) {
    const check = run.open.find(({ type }) => type === "checkDecision");
    expect(check?.isPatient).toBe(true);
    await run.pass(20 * 86_400);
    await check?.fail({ kind: "unavailable" });
    await run.pass(60);
  }
  expect([run.result, run.failure]).toEqual([undefined, undefined]);
  await run.open.find(({ type }) => type === "checkDecision")?.answer({});
  expect(run.result).toMatchObject({ outcome: "cancelledBeforeSubmit" });
});
