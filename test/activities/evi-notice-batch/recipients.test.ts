// The list of recipients goes up whole and once, whatever is at the provider already.
import { afterEach, expect, test } from "vitest";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import type { BatchAssumptions } from "../../../src/providers/evi-notice/client.js";
import { assumptions, batchBench, csv } from "./support.js";
import type { Bench, Call } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const both = ["ana@example.com", "bo@example.com"];
const leftover = Buffer.from("address;legalname\nleft@example.com;Left\n");

const replacing = ofFile(batchBench);
const appending = ofFile(() => batchBench({ recipientLists: "append" }));
afterEach(() => [replacing, appending].forEach(({ sandbox }) => sandbox.faults.clear()));

const benches = [
  ["takes the place of the first", () => replacing],
  ["is added to the first", () => appending],
] as const;

async function addressesOf({ account }: Bench, batchId: string): Promise<string[]> {
  const { results } = await eviNotice.queryRecipients(account, { batchId });
  return results.map(({ address }) => address);
}

const assuming = (changes: Partial<BatchAssumptions>) => ({
  batch: { ...assumptions, ...changes },
});

test.each(benches)(
  "what an upload without an answer has left is deleted, where a list %s",
  async (_, of) => {
    const bench = of();
    const { run, created, effect } = bench.batch();
    const { plan, batchId } = await created();
    await eviNotice.addRecipients(bench.account, { batchId, csv: leftover, hasChallenges: false });
    await run((all) => all.addRecipients({ ...effect("recipients"), batchId, list: plan.list }));
    expect(await addressesOf(bench, batchId)).toEqual(both);
  },
);

test.each(benches)("a part of the list is no list, where a list %s", async (_, of) => {
  const bench = of();
  const { attempt, run, created, effect } = bench.batch();
  const { plan, batchId } = await created();
  const call: Call<void> = (all) =>
    all.addRecipients({ ...effect("recipients"), batchId, list: plan.list });
  bench.sandbox.faults.add({ operation: "evi-notice.addRecipients", kind: "cut" });
  await expect(attempt(call)).rejects.toMatchObject({ nonRetryable: false });
  // What arrived of the upload that was cut.
  const half = Buffer.from("address;legalname\nana@example.com;Ana\n");
  await eviNotice.addRecipients(bench.account, { batchId, csv: half, hasChallenges: false });
  await run(call);
  expect(await addressesOf(bench, batchId)).toEqual(both);
});

test("recipients that the provider still shows after their deletion keep the list from going up", async () => {
  const { attempt, run, created, effect, description } = appending.batch();
  const { plan, batchId } = await created();
  await eviNotice.addRecipients(appending.account, {
    ...{ batchId, csv: leftover, hasChallenges: false },
  });
  const call: Call<void> = (all) =>
    all.addRecipients({ ...effect("recipients"), batchId, list: plan.list });
  // A 404 of a deletion is a success, and nothing was deleted.
  const fault = { operation: "evi-notice.deleteRecipients", kind: "reject" } as const;
  appending.sandbox.faults.add({ ...fault, status: 404, times: "always" });
  const lists = () =>
    appending.sandbox.ledger(description).byIntent[description]?.["evi-notice.addRecipients"];
  const before = lists();
  expect(before).toBe(1);
  await expect(attempt(call)).rejects.toMatchObject({
    ...{ type: "notVisibleYet", nonRetryable: false },
  });
  await expect(attempt(call, { sinceMs: 3_600_000 })).rejects.toMatchObject({
    ...{ type: "protocol", nonRetryable: true },
    details: [expect.objectContaining({ problem: "shows recipients that were deleted" })],
  });
  expect(lists()).toBe(before);
  appending.sandbox.faults.clear();
  await run(call);
  expect(await addressesOf(appending, batchId)).toEqual(both);
});

test.each([
  ["the last one has no answer", "cut-after-commit"],
  ["the first one alone has come", "cut"],
] as const)("a list goes up in parts, also where %s", async (_, kind) => {
  const { run, created, effect } = appending.batch(assuming({ listPartRows: 1 }));
  const { plan, batchId } = await created();
  appending.sandbox.faults.add({ operation: "evi-notice.addRecipients", kind, call: 2 });
  await run((all) => all.addRecipients({ ...effect("recipients"), batchId, list: plan.list }));
  expect(await addressesOf(appending, batchId)).toEqual(both);
});

test("a large list may take longer than a lease", async () => {
  const name = "Ana".repeat(33);
  const rows = Array.from({ length: 10_000 }, (_, row) => `recipient-${row}@example.com;${name}\n`);
  const text = Buffer.from(`address;legalname\n${rows.join("")}`);
  const recipients = await replacing.documents.put(text, "text/csv");
  const { attempt, created, effect, description } = replacing.batch();
  const { plan, batchId } = await created({ recipients });
  replacing.sandbox.faults.add({ operation: "evi-notice.addRecipients", kind: "slow", ms: 1_500 });
  await attempt((all) => all.addRecipients({ ...effect("recipients"), batchId, list: plan.list }));
  expect(replacing.sandbox.ledger(description)).toMatchObject({ duplicates: [] });
});

test("recipients are compared over all pages", async () => {
  const { run, setUp } = replacing.batch(assuming({ recipientsPage: 1 }));
  const { verify } = await setUp();
  await run((all) => all.verifyBatch(verify));
});

test("a list that the provider refuses ends the process, and no answer to a challenge is shown", async () => {
  const { run, created, effect } = replacing.batch();
  const secret = "the answer to it";
  const challenges = "address;legalname;custodychallenge;custodychallengeresponse\n";
  const { plan, batchId } = await created({
    recipients: csv(`${challenges}ana@example.com;Ana;What?;${secret}\n`),
  });
  expect(plan.list.hasChallenges).toBe(true);
  replacing.sandbox.faults.add({
    ...{ operation: "evi-notice.addRecipients", kind: "reject", status: 409 },
  });
  const failure = await run((all) =>
    all.addRecipients({ ...effect("recipients"), batchId, list: plan.list }),
  ).catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: "invalidRequest", nonRetryable: true });
  expect(JSON.stringify(failure)).not.toContain(secret);
  expect(JSON.stringify(plan)).not.toContain(secret);
});
