// A batch at the simulated provider from its set-up to its start, the calls of it that may get no answer, and what must be there once.
import { expect, test } from "vitest";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import type { FaultKind } from "../../../packages/sandbox/src/engine/faults.js";
import type { Bench } from "./support.js";

/** Sets a batch up, verifies and starts it, and tells what the provider then has, and what it did. */
export async function started(bench: Bench) {
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

export function expectOnce({ batch, recipients, attachments, calls, wrong, keyTag }: Result): void {
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

export const calls: [step: string, operation: string, call: number][] = [
  ["create", "createBatch", 1],
  ["body", "setBody", 1],
  ["recipients", "addRecipients", 1],
  ["an attachment", "addBatchAttachment", 1],
  ["the last attachment", "addBatchAttachment", 2],
  ["configure", "updateBatch", 1],
  ["start", "startBatch", 1],
];
export const faults: [name: string, kind: FaultKind][] = [
  ["is cut before it arrives", "cut"],
  ["is cut after the commit", "cut-after-commit"],
  ["answers 500 after the commit", "error-after-commit"],
];

/** `each`: the calls, and what happens to each of them. */
export function testFaults(bench: () => Bench, each: typeof calls, kinds = faults): void {
  const cases = each.flatMap(([step, operation, call]) =>
    kinds.map(
      ([name, kind]) => [step, name, { operation: `evi-notice.${operation}`, kind, call }] as const,
    ),
  );
  test.each(cases)("nothing is doubled or lost where %s %s", async (_, __, fault) => {
    bench().sandbox.faults.add(fault);
    expectOnce(await started(bench()));
    expect(bench().sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
  });
}

/** The same for lists of an account that adds each to those before it. */
export function testAppending(bench: () => Bench, kinds = faults): void {
  test.each(kinds)(
    "where lists are added to each other, one that %s is there once",
    async (_, kind) => {
      bench().sandbox.faults.add({ operation: "evi-notice.addRecipients", kind });
      expectOnce(await started(bench()));
    },
  );
}
