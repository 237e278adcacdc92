// The last look before the start of a batch, the start, and the deletion instead.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Journal } from "../../../src/journal/journal.js";
import type { Effect, EffectHandlers } from "../../../src/journal/journal.js";
import * as eviNotice from "../../../src/providers/evi-notice/client.js";
import { startProviderServer } from "../../providers/provider-server.js";
import type { Handler, ProviderServer } from "../../providers/provider-server.js";
import { assumptions, batchBench } from "./support.js";
import type { Call } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const HOUR_MS = 3_600_000;

const bench = ofFile(batchBench);
afterEach(() => bench.sandbox.faults.clear());

const stateOf = async (batchId: string) =>
  (await eviNotice.getBatch(bench.account, { batchId })).state;
const protocol = { type: "protocol", nonRetryable: true };
const later = { type: "notVisibleYet", nonRetryable: false };

test("recipients that are missing keep a batch from its start, until a person's retry sends them again", async () => {
  const { run, setUp, attempt } = bench.batch();
  const { verify, batchId } = await setUp();
  await eviNotice.deleteRecipients(bench.account, { batchId });
  await expect(run((all) => all.verifyBatch(verify))).rejects.toMatchObject({
    ...protocol,
    details: [expect.objectContaining({ problem: "has 0 of 2 recipients" })],
  });
  const again = { ...verify, mode: "probe" as const };
  await attempt((all) => all.verifyBatch(again), { activityId: "7" });
  await run((all) => all.verifyBatch(verify));
  // Each retry is a decision of its own.
  await eviNotice.deleteRecipients(bench.account, { batchId });
  await attempt((all) => all.verifyBatch(again), { activityId: "9" });
});

test("an attachment that is missing keeps a batch from its start", async () => {
  const { run, setUp } = bench.batch();
  const { verify, batchId } = await setUp();
  for (const { id: attachmentId } of await eviNotice.listBatchAttachments(bench.account, {
    batchId,
  }))
    await eviNotice.deleteBatchAttachment(bench.account, { batchId, attachmentId });
  await expect(run((all) => all.verifyBatch(verify))).rejects.toMatchObject(protocol);
});

test("a body that is queued is waited for, and is a problem where it does not come", async () => {
  const { attempt, run, setUp } = bench.batch();
  const { verify, of, plan, batchId } = await setUp();
  const again = { ...of("body"), effect: { step: "body", occurrence: "1" } };
  await run((all) => all.setBatchBody({ ...again, body: plan.body }));
  await expect(attempt((all) => all.verifyBatch(verify))).rejects.toMatchObject(later);
  const long = { sinceMs: HOUR_MS };
  await expect(attempt((all) => all.verifyBatch(verify), long)).rejects.toMatchObject(protocol);
  // The provider shows nothing of the body, and refuses the start.
  await expect(attempt((all) => all.startBatch(of("start")))).rejects.toMatchObject(later);
  await bench.sandbox.clock.advance(HOUR_MS);
  await run((all) => all.verifyBatch(verify));
  await run((all) => all.startBatch(of("start")));
  expect(await stateOf(batchId)).toBe("Submitted");
});

test("a start that is refused for long is refused", async () => {
  const { run, created, effect } = bench.batch();
  const { batchId } = await created();
  const starting = run((all) => all.startBatch({ ...effect("start"), batchId }), {
    sinceMs: HOUR_MS,
  });
  await expect(starting).rejects.toMatchObject({ type: "invalidRequest", nonRetryable: true });
});

test("a batch with a date ahead is scheduled", async () => {
  const { run, setUp } = bench.batch();
  const { of, batchId } = await setUp();
  const scheduledDate = new Date(bench.sandbox.clock.now() + HOUR_MS).toISOString();
  const answer = await run((all) => all.startBatch({ ...of("start"), scheduledDate }));
  expect(answer).toEqual({ startedAt: expect.any(String), scheduledDate });
  expect(await stateOf(batchId)).toBe("Scheduled");
});

test("a start that happened by a person's word has a date", async () => {
  const { run, attempt, created, effect, deps, workflowId } = bench.batch();
  const { batchId } = await created();
  const start: Call<object> = (all) => all.startBatch({ ...effect("start"), batchId });
  bench.sandbox.faults.add({ operation: "evi-notice.startBatch", kind: "reject", status: 401 });
  await expect(attempt(start)).rejects.toMatchObject({ type: "accessDenied" });
  const key = { namespace: "default", workflowId, step: "start" };
  const said = { decision: "happened", attention: "1", by: "ana", result: {} } as const;
  await deps.journal.decide(key, { ...said, at: new Date().toISOString() });
  expect(await run(start)).toEqual({ startedAt: expect.any(String) });
  expect(await stateOf(batchId)).toBe("Draft");
});

test("a date that is past is not sent", async () => {
  const { run, setUp } = bench.batch();
  const { of, batchId } = await setUp();
  const scheduledDate = new Date(Date.now() - HOUR_MS).toISOString();
  const answer = await run((all) => all.startBatch({ ...of("start"), scheduledDate }));
  expect(answer).toEqual({ startedAt: expect.any(String) });
  const { state, providerFields } = await eviNotice.getBatch(bench.account, { batchId });
  expect(state).toBe("Submitted");
  expect(providerFields).not.toHaveProperty("ScheduledDate");
});

test("a date alone starts a batch where that is configured", async () => {
  const { run, setUp } = bench.batch({
    batch: { ...assumptions, startsBy: "scheduledDate" },
  });
  const { of, batchId } = await setUp();
  const scheduledDate = new Date(Date.now() + HOUR_MS).toISOString();
  await run((all) => all.startBatch({ ...of("start"), scheduledDate }));
  // The simulated provider does not start by it.
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  expect(batch).toMatchObject({ state: "Draft", providerFields: { ScheduledDate: scheduledDate } });
});

test.each(["cut", "cut-after-commit", "error-after-commit"] as const)(
  "a batch that was not started is gone after its deletion, whose answer is lost (%s)",
  async (kind) => {
    const { run, effect, created } = bench.batch();
    const { batchId } = await created();
    bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind });
    const of = { ...effect("delete"), batchId };
    expect(await run((all) => all.deleteBatch(of))).toEqual({ answer: "deleted" });
    expect(await run((all) => all.deleteBatch(of))).toEqual({ answer: "deleted" });
    await expect(stateOf(batchId)).rejects.toMatchObject({ status: 404 });
  },
);

test("a scheduled batch is deleted, and a started one is not", async () => {
  const { run, setUp } = bench.batch();
  const { of, batchId } = await setUp();
  await run((all) => all.startBatch(of("start")));
  bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "cut" });
  expect(await run((all) => all.deleteBatch(of("delete")))).toEqual({ answer: "tooLate" });
  expect(bench.sandbox.faults.list()).toMatchObject([{ fired: 0 }]);
  bench.sandbox.faults.clear();
  expect(await stateOf(batchId)).toBe("Submitted");
  const other = bench.batch();
  const scheduled = await other.setUp();
  const scheduledDate = new Date(bench.sandbox.clock.now() + HOUR_MS).toISOString();
  const start = { ...scheduled.of("start"), scheduledDate };
  await other.run((all) => all.startBatch(start));
  const deleting = other.run((all) => all.deleteBatch(scheduled.of("delete")));
  expect(await deleting).toEqual({ answer: "deleted" });
});

test("a batch whose start was answered is never deleted, whatever the provider shows", async () => {
  const { run, setUp, created, effect, workflowId, deps } = bench.batch();
  const { batchId } = await created();
  // The provider shows a draft still.
  const key = { namespace: "default", workflowId, step: "start" };
  const said = { decision: "happened", attention: "1", by: "ana" } as const;
  const result = { startedAt: new Date().toISOString() };
  await deps.journal.decide(key, { ...said, result, at: result.startedAt });
  bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "cut" });
  bench.sandbox.faults.add({ operation: "evi-notice.getBatch", kind: "cut" });
  const of = { ...effect("delete"), batchId };
  expect(await run((all) => all.deleteBatch(of))).toEqual({ answer: "tooLate" });
  expect(bench.sandbox.faults.list()).toMatchObject([{ fired: 0 }, { fired: 0 }]);
  bench.sandbox.faults.clear();
  expect(await stateOf(batchId)).toBe("Draft");
  // What the process knows of its start is enough.
  const other = await setUp();
  const started = { startedAt: new Date().toISOString() };
  const known = { ...other.of("delete"), started };
  expect(await run((all) => all.deleteBatch(known))).toEqual({ answer: "tooLate" });
  expect(await stateOf(other.batchId)).toBe("Draft");
});

test("a scheduled batch is not deleted shortly before its date", async () => {
  const { run, created, effect } = bench.batch();
  const { batchId } = await created();
  const deleting = (step: string, inMs: number) => {
    const scheduledDate = new Date(Date.now() + inMs).toISOString();
    const started = { startedAt: new Date().toISOString(), scheduledDate };
    return run((all) => all.deleteBatch({ ...effect(step), batchId, started }));
  };
  for (const [step, inMs] of [
    ["past", -1_000],
    ["soon", 60_000],
  ] as const)
    expect(await deleting(step, inMs)).toEqual({ answer: "tooLate" });
  expect(await stateOf(batchId)).toBe("Draft");
  expect(await deleting("early", 120_000)).toEqual({ answer: "deleted" });
  // One that is gone needs no other deletion.
  expect(await deleting("late", 1_000)).toEqual({ answer: "deleted" });
});

describe("a scheduled batch", () => {
  const ahead = () => new Date(Date.now() + HOUR_MS).toISOString();
  const reject = { kind: "reject", times: "always" } as const;

  /** Deletes it; `answer`: the status of each deletion. */
  async function deleted(isShown: boolean, answer?: number, scheduledDate = ahead()) {
    const { run, created, effect } = bench.batch();
    const { batchId } = await created();
    const started = { startedAt: new Date().toISOString(), scheduledDate };
    if (!isShown)
      bench.sandbox.faults.add({ ...reject, operation: "evi-notice.getBatch", status: 404 });
    if (answer !== undefined) {
      const operation = "evi-notice.deleteBatch";
      bench.sandbox.faults.add({ ...reject, operation, status: answer });
    }
    const said = await run((all) => all.deleteBatch({ ...effect("delete"), batchId, started }));
    if (isShown) expect(await stateOf(batchId)).toBe("Draft");
    return said;
  }

  test.each([400, 405, 409].flatMap((status) => [true, false].map((shown) => [status, shown])))(
    "whose deletion is answered %i is not deleted, whatever the provider shows: %s",
    async (status, isShown) => {
      const said = await deleted(isShown === true, Number(status));
      expect(said).toEqual({ answer: "tooLate" });
    },
  );

  test("that the provider does not show is not deleted where it is too late to ask for that", async () => {
    const soon = new Date(Date.now() + 1_000).toISOString();
    expect(await deleted(false, undefined, soon)).toEqual({ answer: "tooLate" });
  });

  test.each([undefined, 404])(
    "that the provider does not show is deleted where that was answered as done: %s",
    async (status) => {
      expect(await deleted(false, status)).toEqual({ answer: "deleted" });
    },
  );
});

test("a draft that the provider does not delete is looked at again, as a person may have started it", async () => {
  const { attempt, setUp } = bench.batch();
  const { of, batchId } = await setUp();
  bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "reject", status: 400 });
  const deleting = () => attempt((all) => all.deleteBatch(of("delete")));
  await expect(deleting()).rejects.toMatchObject(later);
  await eviNotice.startBatch(bench.account, { batchId, state: "Submitted" });
  expect(await deleting()).toEqual({ answer: "tooLate" });
});

test.each([400, 405, 409])(
  "a draft whose deletion is always answered %i needs an operator, who may delete it in the provider's portal",
  async (status) => {
    const { attempt, created, effect } = bench.batch();
    const { batchId } = await created();
    const times = "always";
    bench.sandbox.faults.add({
      operation: "evi-notice.deleteBatch",
      kind: "reject",
      status,
      times,
    });
    const deleting = (sinceMs: number) =>
      attempt((all) => all.deleteBatch({ ...effect("delete"), batchId }), { sinceMs });
    await expect(deleting(HOUR_MS)).rejects.toMatchObject({
      ...protocol,
      details: [{ problem: "does not delete a batch that is not started" }],
    });
    bench.sandbox.faults.clear();
    await eviNotice.deleteBatch(bench.account, { batchId });
    bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "reject", status });
    // A new batch may not be visible yet.
    if (status === 400) await expect(deleting(0)).rejects.toMatchObject(later);
    expect(await deleting(HOUR_MS)).toEqual({ answer: "deleted" });
  },
);

describe("a batch that a person starts during its deletion", () => {
  /** What DELETE answers, after the start. */
  let answer: { status: number; body?: string };
  let batchId: string;
  let proxy: ProviderServer;
  async function answerTo(...[asked, response]: Parameters<Handler>): Promise<void> {
    const { method, path, query, headers, text } = asked;
    if (method === "DELETE") {
      await eviNotice.startBatch(bench.account, { batchId, state: "Submitted" });
      return void response.writeHead(answer.status).end(answer.body);
    }
    const { authorization = "", "content-type": type = "application/json" } = headers;
    const url = new URL(path, bench.sandbox.url);
    url.search = new URLSearchParams(query).toString();
    const passedOn = await fetch(url, {
      method,
      headers: { authorization, "content-type": type },
      ...(text !== "" && { body: text }),
    });
    response.writeHead(passedOn.status, { "content-type": "application/json" });
    response.end(await passedOn.text());
  }
  beforeAll(async () => {
    proxy = await startProviderServer((...given) => void answerTo(...given));
  });
  afterAll(() => proxy.close());

  // One status of each meaning.
  test.each([
    { status: 200, body: JSON.stringify({ State: "Submitted" }) },
    ...[204, 302, 400, 403, 404, 405, 409, 500].map((status) => ({ status })),
  ])("is too late, whatever is answered: $status $body", async (given) => {
    answer = given;
    const { run, effect, setUp } = bench.batch();
    ({ batchId } = await setUp());
    const { run: through } = bench.batch({ baseUrl: proxy.url });
    const of = { ...effect("delete"), batchId };
    expect(await through((all) => all.deleteBatch(of))).toEqual({ answer: "tooLate" });
    expect(await run((all) => all.deleteBatch(of))).toEqual({ answer: "tooLate" });
    expect(await stateOf(batchId)).toBe("Submitted");
  });

  test.each([
    [401, "accessDenied"],
    [429, "rateLimited"],
  ])("is read once the account may call again: %i", async (status, type) => {
    answer = { status };
    const { effect, run, setUp } = bench.batch();
    ({ batchId } = await setUp());
    const through = bench.batch({ baseUrl: proxy.url });
    const of = { ...effect("delete"), batchId };
    const deleting = through.attempt((all) => all.deleteBatch(of));
    await expect(deleting).rejects.toMatchObject({ type });
    expect(await run((all) => all.deleteBatch(of))).toEqual({ answer: "tooLate" });
  });
});

test("a batch that is started just before its deletion is too late", async () => {
  class LateJournal extends Journal {
    override async perform<A>(
      effect: Effect,
      handlers: EffectHandlers<A>,
      mode?: { watchOnly?: boolean },
    ): Promise<A> {
      if (effect.operation === "deleteBatch") {
        await eviNotice.startBatch(bench.account, { batchId: late.batchId, state: "Submitted" });
        await bench.sandbox.clock.advance(HOUR_MS);
      }
      return super.perform(effect, handlers, mode);
    }
  }
  const late = { batchId: "" };
  const { run, setUp } = bench.batch({}, { journal: bench.journalOf(LateJournal) });
  const { of, batchId } = await setUp();
  late.batchId = batchId;
  expect(await run((all) => all.deleteBatch(of("delete")))).toEqual({ answer: "tooLate" });
});
