// The set-up of a batch at the simulated provider, from the input to the start: what the batch has at the end, and that it has nothing
// twice, whichever call gets no answer.
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { effectToken } from "../../../src/journal/effect.js";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import type { FaultKind } from "../../../src/sandbox/engine/faults.js";
import { batchBench } from "./support.js";
import type { Bench, Call } from "./support.js";

let replacing: Bench;
let appending: Bench;
beforeAll(async () => {
  replacing = await batchBench();
  appending = await batchBench({ recipientLists: "append" });
  // The search by description has found a batch of ours: from here on its silence proves something.
  for (const bench of [replacing, appending]) await bench.batch().created();
});
afterEach(() => [replacing, appending].forEach(({ sandbox }) => sandbox.faults.clear()));
afterAll(() => Promise.all([replacing.close(), appending.close()]));

/** Sets a batch up, verifies and starts it, and tells what the provider then has, and what it did. */
async function started(bench: Bench) {
  const { run, setUp, opened, addresses, description } = bench.batch();
  const { plan, batchId, of, verify } = await setUp();
  await run((all) => all.verifyBatch(verify));
  const answer = await run((all) => all.startBatch(of("start")));
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  const { results } = await eviNotice.queryRecipients(bench.account, { batchId });
  const attachments = await eviNotice.listBatchAttachments(bench.account, { batchId });
  const { byIntent, duplicates, violations } = bench.sandbox.ledger(description);
  return {
    ...{ answer, batch, opened, addresses, keyTag: plan.list.keyTag },
    recipients: results.map(({ address, providerFields }) => [
      address,
      providerFields?.["LookupKey"],
    ]),
    attachments: attachments.map(({ fileName }) => fileName),
    calls: byIntent[description],
    wrong: [...duplicates, ...violations],
  };
}

type Result = Awaited<ReturnType<typeof started>>;

function expectOnce({ batch, recipients, attachments, calls, wrong, keyTag }: Result): void {
  expect(batch.state).toBe("Submitted");
  expect(recipients).toEqual([
    ["ana@example.com", `order-1::${keyTag}-2`],
    ["bo@example.com", `${keyTag}-3`],
  ]);
  expect(attachments).toEqual(["terms.txt", "annex.txt"]);
  expect(calls).toEqual({
    "evi-notice.createBatch": 1,
    "evi-notice.addRecipients": 1,
    "evi-notice.addBatchAttachment": 2,
    "evi-notice.startBatch": 1,
  });
  expect(wrong).toEqual([]);
}

test("a batch is set up, verified and started, and each call is made once", async () => {
  const result = await started(replacing);
  expectOnce(result);
  expect(result.answer).toEqual({ startedAt: expect.any(String) });
  expect(result.batch).toMatchObject({
    description: expect.stringMatching(/^June \d+ \[[0-9a-f-]{36}\]$/),
    providerFields: {
      PushNotificationUrl: replacing.callbackUrl,
      PushNotificationFilter: ["Sent", "Delivered", "Read", "Failed", "Closed"],
      PushNotificationExtraData: "c",
      EviNotice: { Subject: "Your contract", Body: "<p>Read it, señora.</p>" },
    },
  });
  expect(result.opened).toEqual([2]);
  expect(result.addresses).toEqual([80]);
});

const calls: [step: string, operation: string, call: number][] = [
  ["create", "createBatch", 1],
  ["body", "setBody", 1],
  ["recipients", "addRecipients", 1],
  ["an attachment", "addBatchAttachment", 1],
  ["the last attachment", "addBatchAttachment", 2],
  ["configure", "updateBatch", 1],
  ["start", "startBatch", 1],
];
const faults: [name: string, kind: FaultKind][] = [
  ["is cut before it arrives", "cut"],
  ["is cut after the commit", "cut-after-commit"],
  ["answers 500 after the commit", "error-after-commit"],
];
const unreadable = [
  "create",
  "answers unreadably",
  { operation: "evi-notice.createBatch", kind: "unreadable" },
] as const;
const cases = calls.flatMap(([step, operation, call]) =>
  faults.map(
    ([name, kind]) => [step, name, { operation: `evi-notice.${operation}`, kind, call }] as const,
  ),
);

test.each([...cases, unreadable])(
  "nothing is doubled or lost where %s %s",
  async (_, __, fault) => {
    replacing.sandbox.faults.add(fault);
    expectOnce(await started(replacing));
    expect(replacing.sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
  },
);

test.each(faults)(
  "where lists are added to each other, one that %s is there once",
  async (_, kind) => {
    appending.sandbox.faults.add({ operation: "evi-notice.addRecipients", kind });
    expectOnce(await started(appending));
  },
);

test("a batch whose creation got no answer is not created again while the search is not proven", async () => {
  const { created } = replacing.batch({ name: "unproven" });
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  await expect(created()).rejects.toMatchObject({ type: "unknownOutcome", nonRetryable: true });
});

test("a copy of our batch is not taken for ours", async () => {
  const { created, workflowId, description: words } = replacing.batch();
  const token = effectToken("default", workflowId, "create", "0");
  const copy = await eviNotice.createBatch(replacing.account, {
    description: `Copy of ${words} [${token}]`,
  });
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  const { batchId } = await created();
  expect(batchId).not.toBe(copy.batchId);
  const batch = await eviNotice.getBatch(replacing.account, { batchId });
  expect(batch.description).toBe(`${words} [${token}]`);
});

test("two batches with our description need a person", async () => {
  const { created, workflowId, description: words } = replacing.batch();
  const description = `${words} [${effectToken("default", workflowId, "create", "0")}]`;
  for (let count = 0; count < 2; count += 1)
    await eviNotice.createBatch(replacing.account, { description });
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  await expect(created()).rejects.toMatchObject({ type: "protocol", nonRetryable: true });
});

test("an attachment that came twice is there once", async () => {
  const { run, created, effect } = replacing.batch();
  const { plan, batchId } = await created();
  const { attachments } = plan;
  const late = { fileName: "terms.txt", mimeType: "text/plain", bytes: Buffer.from("terms") };
  const add: Call<void> = (all) =>
    all.addBatchAttachments({ ...effect("attachments"), batchId, attachments });
  await run(add);
  await eviNotice.addBatchAttachment(replacing.account, { batchId, attachment: late });
  await run(add);
  const left = await eviNotice.listBatchAttachments(replacing.account, { batchId });
  expect(left.map(({ fileName }) => fileName)).toEqual(["terms.txt", "annex.txt"]);
});
