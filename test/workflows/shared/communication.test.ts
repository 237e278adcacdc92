// What an operator looks for in the provider's portal, if the answer to a call with an effect was lost.
import { expect, test } from "vitest";
import { issueCertificate } from "../../../src/workflows/issue-certificate/workflow.js";
import { sendMessage } from "../../../src/workflows/send-message/workflow.js";
import { sendNotice } from "../../../src/workflows/send-notice/workflow.js";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const recipientAddress = { streetAddress: "Calle Mayor 1", locality: "Madrid" };

/** Where the submit of this process has an unknown outcome; `before` answers the calls before it. */
async function lookForOf(
  process: (input: never) => Promise<unknown>,
  input: object,
  before: unknown[] = [],
) {
  const run = await WorkflowRun.start(() => process(input as never), {}, process.name);
  for (const answer of before) await run.open[0]!.answer(answer);
  await run.open[0]!.fail({ kind: "unknownOutcome", ownKey: "token-1" });
  const attention = await run.attention();
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

test("a certificate is found by its holder, and by where the code goes", async () => {
  const plan = { ...place, settings: { checkData: false } };
  const given = {
    disposableHolder: { firstName: "Ada", lastName: "Byron" },
    disposableContacts: { mobile: "+390612345678" },
  };
  const secret = "eyJnaXZlbl9uYW1lIjoiQWRhIn0=";
  const asserted = { eidAssertionHolder: { assertion: secret }, contacts: { mobile: "+39061234" } };
  expect(await lookForOf(issueCertificate, given, [plan])).toEqual({
    holder: "Ada Byron",
    mobile: "+390612345678",
  });
  expect(await lookForOf(issueCertificate, asserted, [plan])).toEqual({ mobile: "+39061234" });
});

test("a message is found by its reference and its recipient; its text and what goes into it are not shown", async () => {
  const many = Object.fromEntries([1, 2, 3, 4].map((n) => [`reference${n}`, n]));
  const hidden = { text: "Your code is 123456", together: "t", reference: { code: "123456" } };
  const providerFields = { ...hidden, clientReference: "order-9", to: "+39061234", ...many };
  expect(await lookForOf(sendMessage, { providerFields })).toEqual({
    ...{ clientReference: "order-9", to: "+39061234" },
    ...{ reference1: "1", reference2: "2", reference3: "3" },
  });
  expect(await lookForOf(sendMessage, { providerFields: hidden })).toBeUndefined();
});
