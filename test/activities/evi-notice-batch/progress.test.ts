// How far a batch is: what is news, and what needs an operator decision (P2 §2.8, §3.3).
import { expect, test } from "vitest";
import type { ProgressQuestion } from "../../../src/activities/evi-notice-batch/progress.js";
import { BatchItems } from "../../../src/batch/items/items.js";
import { batchBench, csv } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const HOUR = 3_600_000;
const bench = ofFile(batchBench);

/** A batch that was started, whose clock goes on by `ms`. */
async function started(changes: object = {}) {
  const items = new BatchItems(bench.pool);
  const { attempt, workflowId, ...own } = bench.batch({}, { items });
  const { batchId } = await own.started(changes);
  const ask = (more: Partial<ProgressQuestion> = {}, onHeartbeat?: (left: unknown) => void) =>
    attempt(
      (all) =>
        all.followBatch({
          ...{ account: "default", batchId, mode: "quick", recipients: 2, allowedFailures: 2 },
          ...more,
        }),
      { ...(onHeartbeat && { onHeartbeat }) },
    );
  /** One of its notices is known to be in this state. */
  const known = (evidenceId: string, state: string) =>
    items.noteRead({ namespace: "default", workflowId }, [{ evidenceId, state }], new Date());
  return { ask, known, pass: (ms: number) => bench.sandbox.clock.advance(ms) };
}

const unchanged = { type: "unchanged", nonRetryable: false };

test("the first state is news, and the same one again is not", async () => {
  const { ask, pass } = await started();
  const seen = await ask();
  expect(seen).toMatchObject({ state: "Submitted", sentCount: 0, progressPercentage: 0 });
  await expect(ask({ seen })).rejects.toMatchObject(unchanged);
  await pass(HOUR);
  expect(await ask({ seen })).toMatchObject({ state: "Processed", sentCount: 2, failedCount: 0 });
});

test("counts are news from 4 % of the recipients on, and where more failed than allowed", async () => {
  const made =
    "address;legalname;displayname\na@example.com;A;\nb@example.com;B;sandbox:nonsense\n";
  const { ask, pass } = await started({ recipients: csv(made) });
  await pass(HOUR);
  const now = await ask();
  expect(now).toMatchObject({ sentCount: 1, failedCount: 1 });
  const before = { ...now, sentCount: 0 };
  expect(await ask({ seen: before, recipients: 25 })).toMatchObject({ sentCount: 1 });
  await expect(ask({ seen: before, recipients: 26 })).rejects.toMatchObject(unchanged);
  const unfailed = { ...now, failedCount: 0 };
  expect(await ask({ seen: unfailed, recipients: 26, allowedFailures: 0 })).toEqual(
    expect.objectContaining({ failedCount: 1 }),
  );
  await expect(ask({ seen: unfailed, recipients: 26, allowedFailures: 1 })).rejects.toMatchObject(
    unchanged,
  );
  await expect(ask({ seen: now, recipients: 26, allowedFailures: 0 })).rejects.toMatchObject(
    unchanged,
  );
});

test("a read that is no news is left to clients, in the heartbeat", async () => {
  const { ask, known, pass } = await started();
  await pass(HOUR);
  await known("a", "Sent");
  const now = await ask();
  expect(now.states).toEqual({ sent: 1 });
  await known("b", "Delivered");
  const left: unknown[] = [];
  const seen = { ...now, sentCount: 1 };
  await expect(
    ask({ seen, recipients: 26 }, (members) => left.push(members)),
  ).rejects.toMatchObject(unchanged);
  const progress = { sentCount: 2, failedCount: 0, progressPercentage: 100 };
  const at = expect.any(String);
  const totals = { at, states: { delivered: 1, sent: 1 } };
  const place = { environment: "sandbox", account: "default" };
  expect(left).toEqual([{ ...place, members: { progress: { at, ...progress }, totals } }]);
});

test.each(["invalid", "failed"])(
  "a batch that becomes %s is seen once, and then needs an operator decision",
  async (word) => {
    const { ask, pass } = await started({ costCentre: `sandbox:${word}` });
    await pass(HOUR);
    const seen = await ask();
    expect(seen.state.toLowerCase()).toBe(word);
    const problem = `the provider gave the batch up: it is ${seen.state}`;
    await expect(ask({ seen })).rejects.toMatchObject({
      type: "protocol",
      details: [{ operation: "getBatch", problem }],
    });
  },
);

test("a batch that stays a draft after its start, or after its date, is asked for again, and then needs an operator decision", async () => {
  const { attempt, setUp } = bench.batch({}, { items: new BatchItems(bench.pool) });
  const { batchId } = await setUp();
  const question = { account: "default", batchId, mode: "quick" as const };
  const ask = (sinceMs: number, dueMs?: number) => {
    const due = dueMs && { scheduledDate: new Date(Date.now() + dueMs).toISOString() };
    const given = { ...question, ...due, recipients: 2, allowedFailures: 2 };
    return attempt((all) => all.followBatch(given), { sinceMs });
  };
  const problem = "shows a draft, although it was started";
  const details = [expect.objectContaining({ operation: "getBatch", problem })];
  await expect(ask(0)).rejects.toMatchObject({ type: "unchanged" });
  await expect(ask(HOUR, HOUR)).rejects.toMatchObject({ type: "unchanged" });
  for (const dueMs of [undefined, -HOUR])
    await expect(ask(HOUR, dueMs)).rejects.toMatchObject({ type: "protocol", details });
});

test("a person's retry accepts any answer", async () => {
  const { ask } = await started();
  const seen = await ask();
  expect(await ask({ seen, mode: "probe" })).toMatchObject({ state: "Submitted" });
});
