// The set-up of a batch at the simulated provider, from the input to the start: what the batch has at the end, and that it has nothing
// twice, whichever call gets no answer.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { effectToken } from "../../../src/journal/effect.js";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import { calls, expectOnce, faults, started, testAppending, testFaults } from "./faults.js";
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

// Each call after the commit, and the first one in all ways; test/long/activities takes each call in all ways.
const isAfterCommit = ([, kind]: (typeof faults)[number]) => kind === "cut-after-commit";
const [create, ...others] = calls;
testFaults(() => replacing, [create!]);
testFaults(() => replacing, others, faults.filter(isAfterCommit));
testAppending(() => appending, faults.filter(isAfterCommit));

test("nothing is doubled or lost where create answers unreadably", async () => {
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "unreadable" });
  expectOnce(await started(replacing));
  expect(replacing.sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
});

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

test("a description of 255 characters is the batch's in the end, and its batch is found by the token until then", async () => {
  const { setUp, description: intent, workflowId } = replacing.batch();
  const description = `${intent} `.padEnd(255, "x");
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut-after-commit" });
  const { batchId } = await setUp({ description });
  const batch = await eviNotice.getBatch(replacing.account, { batchId });
  expect(batch.description).toBe(description);
  const textSearch = effectToken("default", workflowId, "create", "0");
  const asked = { textSearch, limit: 10 };
  expect((await eviNotice.queryBatches(replacing.account, asked)).results).toEqual([]);
  expect(replacing.sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
});

test("white space around a description hides no batch whose creation got no answer", async () => {
  const { created, description } = replacing.batch();
  replacing.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut-after-commit" });
  await created({ description: ` ${description} ` });
  const { byIntent } = await replacing.control.ledger(description);
  expect(byIntent[description]).toEqual({ "evi-notice.createBatch": 1 });
});

test("a stored document that is gone since the check is a question to a person, and leaves the batch as it is", async () => {
  const { created, effect, run } = replacing.batch();
  const { plan, batchId } = await created();
  const gone = { ...plan.body, uri: `document:${"0".repeat(32)}` };
  const uploading = run((all) => all.setBatchBody({ ...effect("body"), batchId, body: gone }));
  await expect(uploading).rejects.toMatchObject({ type: "protocol" });
});

test("a sample is found by its token, though the batch that looks for it has other words", async () => {
  const name = "sampled";
  const change = (to: string) =>
    replacing.pool.query(`update trustflow.look_up_proofs set ${to} where account = $1`, [name]);
  const sampleOf = async () =>
    (
      await replacing.pool.query(
        "select finding, sample from trustflow.look_up_proofs where account = $1",
        [name],
      )
    ).rows[0];
  replacing.sandbox.faults.add({
    operation: "evi-notice.queryBatches",
    kind: "reject",
    status: 503,
  });
  await replacing.batch({ name }).created();
  expect(await sampleOf()).toMatchObject({ finding: null, sample: expect.any(Buffer) });
  // Old enough to count as missing where it is not found.
  await change(
    "sampled_at = clock_timestamp() - interval '1 minute', next_look_at = clock_timestamp()",
  );
  await replacing.batch({ name }).created();
  expect(await sampleOf()).toEqual({ finding: "found", sample: null });
});

test("a batch that loses its token is no sample of the search by it", async () => {
  const name = "long";
  const { created } = replacing.batch({ name });
  await created({ description: "x".repeat(255) });
  const { rowCount } = await replacing.pool.query(
    "select from trustflow.look_up_proofs where account = $1",
    [name],
  );
  expect(rowCount).toBe(0);
});

test("an affidavit on demand is called back", async () => {
  const { batchId } = await replacing.batch().setUp({ affidavitKinds: ["OnDemand"] });
  const { providerFields } = await eviNotice.getBatch(replacing.account, { batchId });
  expect(providerFields).toMatchObject({
    PushNotificationFilter: ["Sent", "Delivered", "Read", "Failed", "Closed", "AffidavitPublished"],
  });
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
