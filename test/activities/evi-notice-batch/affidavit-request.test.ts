// An affidavit on demand of one notice of a batch: one request for one update, whatever became of the notice since (P2 §4.2).
import { expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import { batchBench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(batchBench);

/** A batch whose notices were made; of one of them affidavits are requested. */
async function requesting() {
  const items = new BatchItems(bench.pool);
  const { run, started, workflowId } = bench.batch({}, { items });
  const { batchId } = await started({ affidavitKinds: ["OnDemand"] });
  await bench.sandbox.clock.advance(10 * 60_000);
  const asked = { batchId, limit: 1, cursor: undefined };
  const [recipient] = (await eviNotice.queryRecipients(bench.account, asked)).results;
  const evidenceId = recipient?.evidenceUniqueId ?? "";
  const key = { namespace: "default", workflowId };
  await items.noteListed(key, [{ evidenceId }]);
  return {
    isShown: async (state: string) => items.noteRead(key, [{ evidenceId, state }], new Date()),
    isCalledBack: () =>
      bench.pool.query(
        `update trustflow.batch_items set reported = 'Closed', reported_rank = 9, reported_at = clock_timestamp(),
           heard_at = clock_timestamp() where evidence_id = $1`,
        [evidenceId.toLowerCase()],
      ),
    evidenceId,
    request: (occurrence: string, notice = evidenceId) =>
      run((all) =>
        all.requestBatchAffidavit({
          effect: { step: "requestAffidavit", occurrence },
          account: "default",
          asked: { notice },
        }),
      ),
  };
}

const requests = async () =>
  (await bench.control.requests()).total["evi-notice.affidavitRequest"] ?? {};
const requested = { answer: "requested", requestId: expect.any(String) };

test("an update whose answer was stored gives it again, though the notice is closed by then", async () => {
  const { request, isShown } = await requesting();
  await isShown("Sent");
  const first = await request("one");
  expect(first).toEqual(requested);
  await isShown("Closed");
  const before = await requests();
  expect(await request("one")).toEqual(first);
  expect(await request("another")).toEqual({ answer: "notEligible" });
  expect(await requests()).toEqual(before);
});

test.each(["Draft", "Closed"])(
  "of a notice that a query showed as %s nothing is requested",
  async (state) => {
    const { request, isShown } = await requesting();
    await isShown(state);
    const before = await requests();
    expect(await request("one")).toEqual({ answer: "notEligible" });
    expect(await requests()).toEqual(before);
  },
);

test("of a notice of another batch nothing is requested", async () => {
  const [{ request }, { evidenceId }] = [await requesting(), await requesting()];
  const before = await requests();
  expect(await request("one", evidenceId)).toEqual({ answer: "notFound" });
  expect(await requests()).toEqual(before);
});

test("without an answer it is told as unknown, and the same update requests nothing again", async () => {
  const { request, isShown } = await requesting();
  await isShown("Sent");
  bench.sandbox.faults.add({ operation: "evi-notice.affidavitRequest", kind: "cut-after-commit" });
  for (const _ of ["first", "again"]) expect(await request("one")).toEqual({ answer: "unknown" });
});

test("what only a callback says keeps nobody from requesting", async () => {
  const { request, isCalledBack } = await requesting();
  await isCalledBack();
  expect(await request("one")).toEqual(requested);
  // Nor where an older query showed another state.
  const other = await requesting();
  await other.isShown("Sent");
  await other.isCalledBack();
  expect(await other.request("one")).toEqual(requested);
});
