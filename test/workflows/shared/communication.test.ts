// What an operator looks for in the provider's portal, if the answer to a submit was lost.
import { expect, test } from "@jest/globals";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { sendNotice } from "../../../src/workflows/send-notice/workflow.js";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { WorkflowRun } from "../workflow-run.js";

const recipientAddress = { streetAddress: "Calle Mayor 1", locality: "Madrid" };

/** Where the submit of this process has an unknown outcome. */
async function lookForOf(process: (input: never) => Promise<unknown>, input: object) {
  const run = await WorkflowRun.start(() => process(input as never), {}, process.name);
  await run.calls[0]!.fail({ kind: "unknownOutcome", ownKey: "token-1" });
  const { attention } = (await run.query("status")) as ProcessStatus;
  expect(run.memos.at(-1)?.attention).toEqual(attention);
  return attention?.lookFor;
}

test("a letter is found by its lookup key, by the custom field that it carries, and by its recipient", async () => {
  const given = { lookupKey: "order-7", recipientName: "Ada Byron", recipientAddress };
  expect(await lookForOf(sendPostal, given)).toEqual({
    lookupKey: "order-7",
    "custom field Trustflow": "token-1",
    recipient: "Ada Byron",
  });
  expect(await lookForOf(sendPostal, { recipientAddress })).toEqual({
    "custom field Trustflow": "token-1",
    recipient: "Calle Mayor 1, Madrid",
  });
});

test("a notice is found by the two keys that it carries as one, and by its recipient", async () => {
  const given = { lookupKey: "order-12", recipientAddress: "ada@example.com" };
  expect(await lookForOf(sendNotice, given)).toEqual({
    lookupKey: "order-12::token-1",
    recipient: "ada@example.com",
  });
});
