// The set-up of a batch at the simulated provider, from the input to the start: what the batch has at the end, and that it has nothing
// twice, whichever call gets no answer.
import { afterEach, beforeAll, expect, test } from "vitest";
import { effectToken } from "../../../src/journal/effect.js";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import type { FaultOptions } from "../../../packages/sandbox/src/engine/faults.js";
import { ofFile } from "../../harness/of-file.js";
import { batchBench } from "./support.js";

const bench = ofFile(batchBench);
// The search by description has found a batch of ours: from here on its silence proves something.
beforeAll(() => bench.batch().created());
afterEach(() => bench.sandbox.faults.clear());

/** Sets a batch up, verifies and starts it: the provider has all of it, and once. */
async function startedOnce() {
  const { run, setUp, opened, addresses, description } = bench.batch();
  const { plan, batchId, of, verify } = await setUp();
  await run((all) => all.verifyBatch(verify));
  const answer = await run((all) => all.startBatch(of("start")));
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  expect(batch.state).toBe("Submitted");
  const { results } = await eviNotice.queryRecipients(bench.account, { batchId });
  const recipients = results.map((one) => [one.address, one.providerFields?.["LookupKey"]]);
  expect(recipients).toEqual([
    ["ana@example.com", `order-1::${plan.list.keyTag}-2`],
    ["bo@example.com", `${plan.list.keyTag}-3`],
  ]);
  const attachments = await eviNotice.listBatchAttachments(bench.account, { batchId });
  expect(attachments.map(({ fileName }) => fileName)).toEqual(["terms.txt", "annex.txt"]);
  const { byIntent, duplicates, violations } = bench.sandbox.ledger(description);
  expect(byIntent[description]).toEqual({
    "evi-notice.createBatch": 1,
    "evi-notice.addRecipients": 1,
    "evi-notice.addBatchAttachment": 2,
    "evi-notice.startBatch": 1,
  });
  expect([...duplicates, ...violations]).toEqual([]);
  return { answer, batch, opened, addresses };
}

test("a batch is set up, verified and started, and each call is made once", async () => {
  const { answer, batch, opened, addresses } = await startedOnce();
  expect(answer).toEqual({ startedAt: expect.any(String) });
  expect(batch).toMatchObject({
    description: expect.stringMatching(/^June \d+ \[[0-9a-f-]{36}\]$/),
    providerFields: {
      PushNotificationUrl: bench.callbackUrl,
      PushNotificationFilter: ["Sent", "Delivered", "Read", "Failed", "Closed"],
      PushNotificationExtraData: "c",
      EviNotice: { Subject: "Your contract", Body: "<p>Read it, señora.</p>" },
    },
  });
  expect(opened).toEqual([2]);
  expect(addresses).toEqual([80]);
});

const lost = "cut-after-commit";
test.each<[call: string, operation: string, how: Pick<FaultOptions, "kind" | "call">]>([
  ["create has an unreadable answer", "createBatch", { kind: "unreadable" }],
  ["create has no answer", "createBatch", { kind: lost }],
  ["body has no answer", "setBody", { kind: lost }],
  ["recipients have no answer", "addRecipients", { kind: lost }],
  ["an attachment has no answer", "addBatchAttachment", { kind: lost }],
  ["the last attachment has no answer", "addBatchAttachment", { kind: lost, call: 2 }],
  ["configure has no answer", "updateBatch", { kind: lost }],
  ["start has no answer", "startBatch", { kind: lost }],
])("nothing is doubled or lost where %s", async (_, operation, how) => {
  bench.sandbox.faults.add({ operation: `evi-notice.${operation}`, ...how });
  await startedOnce();
  expect(bench.sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
});

test("a batch whose creation got no answer is not created again while the search is not proven", async () => {
  const { created } = bench.batch({ name: "unproven" });
  bench.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  await expect(created()).rejects.toMatchObject({ type: "unknownOutcome", nonRetryable: true });
});

test("a copy of our batch is not taken for ours", async () => {
  const { created, workflowId, description: words } = bench.batch();
  const token = effectToken("default", workflowId, "create", "0");
  const copy = await eviNotice.createBatch(bench.account, {
    description: `Copy of ${words} [${token}]`,
  });
  bench.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  const { batchId } = await created();
  expect(batchId).not.toBe(copy.batchId);
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  expect(batch.description).toBe(`${words} [${token}]`);
});

test("two batches with our description need a person", async () => {
  const { created, workflowId, description: words } = bench.batch();
  const description = `${words} [${effectToken("default", workflowId, "create", "0")}]`;
  for (let count = 0; count < 2; count += 1)
    await eviNotice.createBatch(bench.account, { description });
  bench.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut" });
  await expect(created()).rejects.toMatchObject({ type: "protocol", nonRetryable: true });
});

test("a description of 255 characters is the batch's in the end, and its batch is found by the token until then", async () => {
  const { setUp, description: intent, workflowId } = bench.batch();
  const description = `${intent} `.padEnd(255, "x");
  bench.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut-after-commit" });
  const { batchId } = await setUp({ description });
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  expect(batch.description).toBe(description);
  const textSearch = effectToken("default", workflowId, "create", "0");
  const asked = { textSearch, limit: 10 };
  expect((await eviNotice.queryBatches(bench.account, asked)).results).toEqual([]);
  expect(bench.sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
});

test("white space around a description hides no batch whose creation got no answer", async () => {
  const { created, description } = bench.batch();
  bench.sandbox.faults.add({ operation: "evi-notice.createBatch", kind: "cut-after-commit" });
  await created({ description: ` ${description} ` });
  const { byIntent } = await bench.control.ledger(description);
  expect(byIntent[description]).toEqual({ "evi-notice.createBatch": 1 });
});

test("a stored document that is gone since the check is a question to a person, and leaves the batch as it is", async () => {
  const { created, effect, run } = bench.batch();
  const { plan, batchId } = await created();
  const gone = { ...plan.body, uri: `document:${"0".repeat(32)}` };
  const uploading = run((all) => all.setBatchBody({ ...effect("body"), batchId, body: gone }));
  await expect(uploading).rejects.toMatchObject({ type: "protocol" });
});

test("a sample is found by its token, though the batch that looks for it has other words", async () => {
  const name = "sampled";
  const change = (to: string) =>
    bench.pool.query(`update trustflow.look_up_proofs set ${to} where account = $1`, [name]);
  const sampleOf = async () =>
    (
      await bench.pool.query(
        "select finding, sample from trustflow.look_up_proofs where account = $1",
        [name],
      )
    ).rows[0];
  bench.sandbox.faults.add({
    operation: "evi-notice.queryBatches",
    kind: "reject",
    status: 503,
  });
  await bench.batch({ name }).created();
  expect(await sampleOf()).toMatchObject({ finding: null, sample: expect.any(Buffer) });
  // Old enough to count as missing where it is not found.
  await change(
    "sampled_at = clock_timestamp() - interval '1 minute', next_look_at = clock_timestamp()",
  );
  await bench.batch({ name }).created();
  expect(await sampleOf()).toEqual({ finding: "found", sample: null });
});

test("a batch that loses its token is no sample of the search by it", async () => {
  const name = "long";
  const { created } = bench.batch({ name });
  await created({ description: "x".repeat(255) });
  const { rowCount } = await bench.pool.query(
    "select from trustflow.look_up_proofs where account = $1",
    [name],
  );
  expect(rowCount).toBe(0);
});

test("an affidavit on demand is called back", async () => {
  const { batchId } = await bench.batch().setUp({ affidavitKinds: ["OnDemand"] });
  const { providerFields } = await eviNotice.getBatch(bench.account, { batchId });
  expect(providerFields).toMatchObject({
    PushNotificationFilter: ["Sent", "Delivered", "Read", "Failed", "Closed", "AffidavitPublished"],
  });
});
