// A batch from the check of its list to its report, and each way in which it may end before its start (P2 §2.8, §3.3, §3.4, §4.3).
import { describe, expect, test } from "vitest";
import type { BatchPlan } from "../../../src/activities/evi-notice-batch/context.js";
import type { SendNoticeBatchInput } from "../../../src/contracts/send-notice-batch/contract.js";
import { SendNoticeBatchResult } from "../../../src/contracts/send-notice-batch/contract.js";
import { sendNoticeBatch } from "../../../src/workflows/send-notice-batch/workflow.js";
import { at, batchFakes, batchPlan, decisions, document, totals } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const input: SendNoticeBatchInput = { subject: "s", body: "b", recipients: document };
const plan = batchPlan;
const read = (state: string, more: object = {}) => ({
  stamp: state === "Processed" ? "2026-01-01T00:01:00.000Z" : at,
  state,
  ...more,
});
const allSent = read("Processed", { sentCount: 100, failedCount: 0 });

const setUp = [
  "prepareBatch",
  "createBatch",
  "setBatchBody",
  "addRecipients",
  "configureBatch",
  "verifyBatch",
  "startBatch",
];

type Fakes = Partial<Record<string, (given: any) => unknown>>;

const start = (fakes: Fakes = {}, more: Partial<BatchPlan> = {}) =>
  WorkflowRun.start(
    () => sendNoticeBatch(input),
    {
      ...batchFakes({ ...plan, ...more }),
      ...decisions,
      deleteBatch: () => ({ answer: "deleted" }),
      ...fakes,
    },
    "sendNoticeBatch",
  );
const tooLate = () => ({ answer: "tooLate" });
/** The start is withdrawn before it is sent; what comes before it has been answered. */
const withdrawing = {
  withdraw: ({ step }: { step: string }) => (step === "start" ? "withdrawn" : "answered"),
};
/** What an earlier answer of a fake was, then the next. */
const oneByOne = (...answers: unknown[]) => {
  const left = answers.values();
  return () => left.next().value;
};

test("the input goes into one activity, and attachments and affidavits only where there are some", async () => {
  const attachments = [{ fileName: "a.txt", document }];
  const settings = { ...plan.settings, collectAffidavits: true };
  const run = await start({}, { attachments, settings });
  expect(run.types).not.toContain("archiveAffidavits");
  await run.pass(settings.affidavitWindowSeconds);
  expect(run.types).toEqual([
    ...setUp.slice(0, 4),
    "addBatchAttachments",
    ...setUp.slice(4),
    "followBatch",
    "watchItems",
    "archiveAffidavits",
    "writeReport",
  ]);
  expect(run.calls.filter(({ input: given }) => "input" in given)).toHaveLength(1);
  expect(run.result).toMatchObject({
    archive: document,
    affidavits: { collected: 100, missing: 0 },
  });
});

describe("a question whose time was not enough", () => {
  const unchanged = { kind: "unchanged" as const, provider: "evi-notice" };
  const settings = { ...plan.settings, collectAffidavits: true };
  const archive = { archive: document, collected: 100, missing: 0 };
  const collecting = async () => {
    const run = await start({ archiveAffidavits: undefined }, { settings });
    await run.pass(settings.affidavitWindowSeconds);
    await run.openCall("archiveAffidavits").fail(unchanged);
    return run;
  };

  test("about the affidavits needs a person, while the process collects on", async () => {
    const run = await collecting();
    const attention = await run.attention();
    expect(attention).toMatchObject({
      kind: "unavailable",
      step: "affidavits",
      decisions: ["retry", "happened", "abandon"],
    });
    expect(attention?.reason).toMatch(/^the affidavits are not all collected after seven days/);
    expect([run.open.map(({ type }) => type), run.result]).toEqual([
      ["archiveAffidavits"],
      undefined,
    ]);
    await run.open[0]?.answer(archive);
    expect(run.result).toMatchObject({ outcome: "closed", archive: document });
  });

  test("and that has no answer after retry either, asks a person again, as often as it takes", async () => {
    const run = await collecting();
    for (const id of ["affidavits-1", "affidavits-2"]) {
      expect(await run.attention()).toMatchObject({ id });
      await run.resolve("retry");
      expect(await run.attention()).toBeUndefined();
      await run.openCall("archiveAffidavits").fail(unchanged);
    }
    expect(await run.attention()).toMatchObject({ id: "affidavits-3" });
    await run.openCall("archiveAffidavits").answer(archive);
    expect(run.result).toMatchObject({ outcome: "closed", archive: document });
  });

  test("is left out where a person says so", async () => {
    const run = await collecting();
    await run.resolve("happened");
    expect(run.open).toEqual([]);
    expect(run.result).toMatchObject({ outcome: "closed", report: { csv: document } });
    expect(run.result).not.toHaveProperty("archive");
  });

  test("about the notices needs a person too, and its answer is the last sweep", async () => {
    const run = await start({ watchItems: undefined });
    await run.open[0]?.fail(unchanged);
    expect(await run.attention()).toMatchObject({ id: "items-1", step: "items" });
    expect([run.open.map(({ type }) => type), run.result]).toEqual([["watchItems"], undefined]);
    await run.open[0]?.answer(totals(0));
    expect(run.result).toMatchObject({ outcome: "closed", report: { csv: document } });
  });
});

test("each answer about the batch and its notices shows in the next question", async () => {
  const halfway = read("Processing", { sentCount: 50, failedCount: 0 });
  const followBatch = oneByOne(halfway, read("Processed", { sentCount: 98, failedCount: 2 }));
  const run = await start({ followBatch, watchItems: oneByOne(totals(40), totals(0)) });
  const [, second] = run.callsOf("followBatch");
  expect(second?.input.seen).toEqual(halfway);
  const [first, last] = run.callsOf("watchItems");
  expect(first?.input).toMatchObject({ withoutNotice: 2, wait: "change" });
  expect(last?.input.seen).toEqual(totals(40));
  expect(run.result).toMatchObject({ outcome: "closed" });
});

test("a question is not asked in a loop because the database's clock has gone back, and an end counts all the same", async () => {
  const earlier = { stamp: "2025-12-31T00:00:00.000Z" };
  const answers = [read("Submitted"), read("Processing", earlier), read("Processed", earlier)];
  const run = await start({ followBatch: oneByOne(...answers) });
  const seen = run.callsOf("followBatch").map(({ input: given }) => given.seen?.state);
  expect(seen).toEqual([undefined, "Submitted", "Processing"]);
  expect(run.callsOf("watchItems")[0]?.input).toMatchObject({ areAllMade: true });
  expect((await run.status()).state).toBe("Processed");
});

test("however many answers there are about the notices, the history has an end", async () => {
  let left = 100;
  const run = await start({ watchItems: () => totals((left -= 1)) });
  const waits = run.callsOf("watchItems").map(({ input: { wait } }) => wait);
  expect(waits.indexOf("end")).toBe(60);
  expect(waits.slice(60)).not.toContain("change");
});

describe("a batch that is followed no more by an operator's decision", () => {
  const problem = (state: string) => `the provider gave the batch up: it is ${state}`;
  async function waived(last: ReturnType<typeof read>, fail: object, items: object) {
    const run = await start({ followBatch: undefined, watchItems: () => items });
    await run.openCall("followBatch").answer(last);
    await run.openCall("followBatch").fail(fail);
    expect(run.callsOf("watchItems")).toEqual([]);
    const { reason } = (await run.attention()) ?? {};
    await run.resolve("happened");
    const [watched] = run.callsOf("watchItems");
    return { reason, watched: watched?.input, result: run.result };
  }

  // Nobody got a notice; half of the recipients did, and all of these are closed; some are still open.
  const nobody = totals(0, { states: {} });
  test.each([
    ["Invalid", {}, nobody, 100],
    ["Invalid", { sentCount: 0 }, nobody, 100],
    ["Failed", { sentCount: 0, failedCount: 7 }, nobody, 100],
    // Nothing says how many were made, so a single reading of the list proves nothing.
    ["Failed", {}, nobody, 0],
    ["Failed", { failedCount: 7 }, nobody, 0],
    ["Failed", { sentCount: 50 }, totals(0, { states: { read: 50 } }), 50],
    ["Failed", { sentCount: 50 }, totals(3, { isLast: true }), 50],
  ])("ends with what it became: %s %j", async (state, counts, items, without) => {
    const fail = {
      kind: "protocol",
      provider: "evi-notice",
      operation: "getBatch",
      problem: problem(state),
    };
    const { reason, watched, result } = await waived(read(state, counts), fail, items);
    expect(reason).toBe(`evi-notice getBatch: ${problem(state)}`);
    expect(watched).toMatchObject({ withoutNotice: without, areAllMade: true });
    expect(SendNoticeBatchResult.parse(result)).toMatchObject({
      outcome: state.toLowerCase(),
      report: { csv: document },
    });
  });

  test.each([
    ["closed", 0],
    ["openAtDeadline", 1],
  ])("is %s where %d recipients have no closed notice", async (outcome, open) => {
    const last = read("Processing", { sentCount: 0, failedCount: 2 });
    const known = totals(open, { isLast: true });
    const { watched, result } = await waived(last, { kind: "unavailable" }, known);
    expect(watched).toMatchObject({ withoutNotice: 2, areAllMade: false });
    expect(result).toMatchObject({ outcome });
  });
});

describe("a failure budget", () => {
  test("that the provider exceeds asks once, while the batch is followed", async () => {
    const failed = read("Processed", { sentCount: 80, failedCount: 20 });
    const run = await start({ followBatch: () => failed, watchItems: undefined });
    const [watched] = run.open;
    expect(watched).toMatchObject({ type: "watchItems", input: { allowedFailures: 100 } });
    await run.resolve("abandon", { attention: "failureBudget-1" });
    expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
  });

  test("can end the process also where a cancellation came too late", async () => {
    const run = await start({
      ...{ verifyBatch: undefined, watchItems: undefined, deleteBatch: tooLate },
      followBatch: () => read("Processed", { sentCount: 80, failedCount: 20 }),
      ...withdrawing,
    });
    await run.update("cancel");
    await run.resolve("abandon", { attention: "failureBudget-1" });
    expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "exists" }] });
  });

  test("asks no one where no more failed than allowed", async () => {
    const failed = read("Processed", { sentCount: 90, failedCount: 10 });
    const run = await start({ followBatch: () => failed });
    expect(run.result).toMatchObject({ outcome: "closed" });
  });
});

describe("a cancellation", () => {
  test.each(["setBatchBody", "addRecipients", "configureBatch", "verifyBatch"])(
    "during %s deletes the batch, and nothing else is sent",
    async (step) => {
      const run = await start({ [step]: undefined, ...withdrawing });
      expect((await run.update("cancel")).answer).toEqual({ answer: "cancelled" });
      expect(run.result).toMatchObject({ outcome: "cancelledBeforeStart" });
      expect(run.types.at(-1)).toBe("deleteBatch");
      expect(run.types).not.toContain("startBatch");
    },
  );

  test("while the creation has no answer deletes the batch as soon as it is known", async () => {
    const run = await start({ createBatch: undefined, ...withdrawing });
    expect((await run.update("cancel")).answer).toEqual({ answer: "cancelled" });
    // They send no heartbeat.
    for (const { type, needsHeartbeat } of run.calls.slice(2))
      expect([type, needsHeartbeat]).toEqual([type, false]);
    await run.open[0]!.answer({ batchId: "b-1" });
    expect(run.types.slice(2)).toEqual(["checkDecision", "withdraw", "withdraw", "deleteBatch"]);
    expect(run.result).toMatchObject({ outcome: "cancelledBeforeStart" });
  });

  test("while the start has no answer is too late, and the batch is followed", async () => {
    const fakes = { startBatch: undefined, deleteBatch: tooLate, withdraw: () => "inFlight" };
    const run = await start(fakes);
    expect((await run.update("cancel")).answer).toEqual({ answer: "pending" });
    await run.openCall("startBatch").answer({ startedAt: at });
    const [deletion] = run.callsOf("deleteBatch");
    expect(deletion?.input.started).toEqual({ startedAt: at });
    expect(run.result).toMatchObject({ outcome: "closed" });
  });

  const scheduledDate = "2026-01-02T00:00:00.000Z";
  const startBatch = () => ({ startedAt: at, scheduledDate });

  test("before the scheduled date deletes the batch", async () => {
    const run = await start({ startBatch }, { scheduledDate });
    expect(run.types).not.toContain("followBatch");
    expect((await run.update("cancel")).answer).toEqual({ answer: "cancelled" });
    // The attempts of its steps may last for hours, and no update waits behind them.
    const queues = run.calls.map(({ type, taskQueue }) => `${type} ${taskQueue}`);
    expect(queues).toContain("addRecipients trustflow.evi-notice-batch");
    expect(queues).toContain("deleteBatch trustflow.evi-notice");
    expect(run.result).toMatchObject({
      outcome: "cancelledBeforeStart",
      dates: { scheduledDate },
    });
  });

  test.each([
    ["cancelled", { answer: "deleted" }, { outcome: "cancelledBeforeStart" }],
    ["tooLate", { answer: "tooLate" }, { outcome: "closed" }],
  ])("whose answer comes after the scheduled date is %s", async (answer, given, result) => {
    const run = await start({ startBatch, deleteBatch: undefined }, { scheduledDate });
    await run.pass(86_399);
    const update = await run.update("cancel");
    await run.pass(2);
    expect(run.types).not.toContain("followBatch");
    await run.openCall("deleteBatch").answer(given);
    expect([update.answer, run.result]).toMatchObject([{ answer }, result]);
  });

  test("that comes too late after one too late says so again, and the batch is followed", async () => {
    const stay = { verifyBatch: undefined, followBatch: undefined };
    const run = await start({ ...stay, deleteBatch: tooLate, ...withdrawing });
    await run.update("cancel");
    expect((await run.update("cancel")).answer).toEqual({ answer: "tooLate" });
    expect(run.types.at(-1)).not.toBe("withdraw");
    await run.openCall("followBatch").answer(allSent);
    expect(run.result).toMatchObject({ outcome: "closed" });
  });

  test("that the provider does not permit says so, and the batch waits for its date", async () => {
    const deleteBatch = () => {
      throw { kind: "accessDenied" };
    };
    const run = await start({ startBatch, deleteBatch }, { scheduledDate });
    expect((await run.update("cancel")).answer).toEqual({ answer: "notPermitted" });
    await run.pass(86_400);
    expect(run.result).toMatchObject({ outcome: "closed" });
  });
});

test("a batch that the provider does not show as it was sent is started by a person's decision alone", async () => {
  const run = await start({ verifyBatch: undefined });
  await run.openCall("verifyBatch").fail({ kind: "protocol" });
  expect(run.types).not.toContain("startBatch");
  await run.resolve("happened");
  expect(run.types).toContain("startBatch");
  expect(run.result).toMatchObject({ outcome: "closed" });
});

test("a batch that a person started, though its start was refused, is followed, and cannot be cancelled", async () => {
  const run = await start({
    startBatch: () => {
      throw { kind: "invalidRequest", fields: [{ path: "state", problem: "is refused" }] };
    },
    ...{ deleteBatch: tooLate, followBatch: undefined, withdraw: () => "withdrawn" },
  });
  expect(run.failure).toBeUndefined();
  expect(run.types.slice(-2)).toEqual(["deleteBatch", "followBatch"]);
  expect((await run.update("cancel")).answer).toEqual({ answer: "tooLate" });
  await run.openCall("followBatch").answer(allSent);
  expect(run.result).toMatchObject({ outcome: "closed", references: { batchId: "b-1" } });
});

test("a cancellation during the deletion of a refused batch does not stop one that was started", async () => {
  const run = await start({
    addRecipients: () => {
      throw { kind: "invalidRequest", fields: [{ path: "recipients", problem: "is refused" }] };
    },
    deleteBatch: undefined,
    ...withdrawing,
  });
  await run.update("cancel");
  await run.openCall("deleteBatch").answer({ answer: "tooLate" });
  expect(run.result).toMatchObject({ outcome: "closed" });
});

describe("an affidavit on demand of one notice", () => {
  test.each([
    [{}, "notice: must be the id of a notice of the batch"],
    [{ notice: "" }, "notice: must be the id of a notice of the batch"],
    [{ notice: "x", includeBody: "yes" }, "includeBody: must be true or false"],
    [{ notice: "x", includeDocument: true }, "includeDocument: is not known"],
  ])("%j is refused, and the field named", async (asked, message) => {
    const run = await start({ followBatch: undefined });
    const { refused } = await run.update("requestAffidavit", asked);
    expect(refused?.message).toContain(message);
  });

  test("without OnDemand in the input asks no provider", async () => {
    const run = await start({ followBatch: undefined });
    const { answer } = await run.update("requestAffidavit", { notice: "x" });
    expect(answer).toEqual({ answer: "notEligible" });
    expect(run.types).not.toContain("requestBatchAffidavit");
  });
});
