// The last look before the start of a batch, the start, and the deletion instead.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
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
  // Another run numbers its activities anew.
  await eviNotice.deleteRecipients(bench.account, { batchId });
  await attempt((all) => all.verifyBatch(again), { activityId: "9", runId: "r-2" });
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

test("a start without an answer is not made again because the provider does not show the batch", async () => {
  const { run, setUp } = bench.batch();
  const { of } = await setUp();
  bench.sandbox.faults.add({ operation: "evi-notice.startBatch", kind: "cut-after-commit" });
  const hidden = { operation: "evi-notice.getBatch", kind: "reject", status: 404 } as const;
  bench.sandbox.faults.add({ ...hidden, times: "always" });
  const start: Call<object> = (all) => all.startBatch(of("start"));
  await expect(run(start, { sinceMs: HOUR_MS })).rejects.toMatchObject(protocol);
  bench.sandbox.faults.clear();
  expect(await run(start)).toEqual({ startedAt: expect.any(String) });
});

test("a start that happened by a person's word has a date", async () => {
  const { run, attempt, created, effect, deps, workflowId } = bench.batch();
  const { batchId } = await created();
  const start: Call<object> = (all) => all.startBatch({ ...effect("start"), batchId });
  bench.sandbox.faults.add({ operation: "evi-notice.startBatch", kind: "reject", status: 401 });
  await expect(attempt(start)).rejects.toMatchObject({ type: "accessDenied" });
  const key = { namespace: "default", workflowId, step: "start", occurrence: "0" };
  const said = { decision: "happened", attention: "1", by: "ana", result: {} } as const;
  await deps.journal.decide(key, { ...said, at: new Date().toISOString() });
  expect(await run(start)).toEqual({ startedAt: expect.any(String) });
  expect(await stateOf(batchId)).toBe("Draft");
});

test.each([
  ["ahead is sent before the start", "both", HOUR_MS, "Scheduled"],
  ["that is past is not sent", "both", -HOUR_MS, "Submitted"],
  // The simulated provider does not start by it.
  ["ahead is sent alone, where that starts a batch", "scheduledDate", HOUR_MS, "Draft"],
] as const)("a date %s", async (_, startsBy, inMs, state) => {
  const { run, setUp } = bench.batch({ batch: { ...assumptions, startsBy } });
  const { of, batchId } = await setUp();
  const now = inMs > 0 ? bench.sandbox.clock.now() : Date.now();
  const scheduledDate = new Date(now + inMs).toISOString();
  const answer = await run((all) => all.startBatch({ ...of("start"), scheduledDate }));
  expect(answer).toEqual({ startedAt: expect.any(String), ...(inMs > 0 && { scheduledDate }) });
  const batch = await eviNotice.getBatch(bench.account, { batchId });
  expect(batch.state).toBe(state);
  expect(batch.providerFields?.["ScheduledDate"]).toBe(inMs > 0 ? scheduledDate : undefined);
});

test.each<[string, number[]]>([
  ["is scheduled by its date alone", []],
  ["is scheduled, and shows it late", [500]],
])("a batch that %s is not started before its date (P2 §3.4)", async (_, refusals) => {
  const sent: object[] = [];
  let State = "Draft";
  const batchId = randomUUID();
  const literal = await startProviderServer(({ method, text }, response) => {
    if (method === "PATCH") {
      const start = JSON.parse(text) as { ScheduledDate?: string; State?: string };
      sent.push(start);
      State = start.State ?? "Scheduled";
      return void response.end();
    }
    response.writeHead(refusals.shift() ?? 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ BatchId: batchId, State }));
  });
  try {
    const { run, effect } = bench.batch({ baseUrl: literal.url });
    const scheduledDate = new Date(Date.now() + HOUR_MS).toISOString();
    const given = { ...effect("start"), batchId, scheduledDate };
    const answer = await run((all) => all.startBatch(given));
    expect(answer).toEqual({ startedAt: expect.any(String), scheduledDate });
    expect(sent).toEqual([{ ScheduledDate: scheduledDate }]);
  } finally {
    await literal.close();
  }
});

test.each(["cut", "cut-after-commit"] as const)(
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

test("a scheduled batch is deleted", async () => {
  const { run, setUp } = bench.batch();
  const { of } = await setUp();
  const scheduledDate = new Date(bench.sandbox.clock.now() + HOUR_MS).toISOString();
  await run((all) => all.startBatch({ ...of("start"), scheduledDate }));
  expect(await run((all) => all.deleteBatch(of("delete")))).toEqual({ answer: "deleted" });
});

test("no deletion is sent for a batch that a person has started", async () => {
  const { run, setUp } = bench.batch();
  const { of, batchId } = await setUp();
  await eviNotice.startBatch(bench.account, { batchId, state: "Submitted" });
  bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "cut" });
  expect(await run((all) => all.deleteBatch(of("delete")))).toEqual({ answer: "tooLate" });
  expect(bench.sandbox.faults.list()).toMatchObject([{ fired: 0 }]);
});

test("a batch whose start was answered is never deleted, whatever the provider shows", async () => {
  const { run, setUp, created, effect, workflowId, deps } = bench.batch();
  const { batchId } = await created();
  // The provider shows a draft still.
  const key = { namespace: "default", workflowId, step: "start", occurrence: "0" };
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

test.each<[string, { isShown?: true; status?: number; inMs?: number }, string]>([
  [
    "is shown, and whose deletion is refused, is not deleted",
    { isShown: true, status: 400 },
    "tooLate",
  ],
  ["is not shown, and whose deletion is refused, is not deleted", { status: 409 }, "tooLate"],
  ["is not shown, too late to ask for its deletion, is not deleted", { inMs: 1_000 }, "tooLate"],
  ["is not shown is deleted where that is answered as done", {}, "deleted"],
  ["is not shown is deleted where it is not there any more", { status: 404 }, "deleted"],
])("a scheduled batch that %s", async (_, { isShown, status, inMs = HOUR_MS }, answer) => {
  const { run, created, effect } = bench.batch();
  const { batchId } = await created();
  const reject = (operation: string, code: number) =>
    bench.sandbox.faults.add({ operation, kind: "reject", times: "always", status: code });
  if (!isShown) reject("evi-notice.getBatch", 404);
  if (status !== undefined) reject("evi-notice.deleteBatch", status);
  const scheduledDate = new Date(Date.now() + inMs).toISOString();
  const started = { startedAt: new Date().toISOString(), scheduledDate };
  const deleting = run((all) => all.deleteBatch({ ...effect("delete"), batchId, started }));
  expect(await deleting).toEqual({ answer });
  if (isShown) expect(await stateOf(batchId)).toBe("Draft");
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

test("a draft whose deletion is always refused needs an operator, who may delete it in the provider's portal", async () => {
  const { attempt, created, effect } = bench.batch();
  const { batchId } = await created();
  const refused = { operation: "evi-notice.deleteBatch", kind: "reject", status: 400 } as const;
  bench.sandbox.faults.add({ ...refused, times: "always" });
  const deleting = (sinceMs: number) =>
    attempt((all) => all.deleteBatch({ ...effect("delete"), batchId }), { sinceMs });
  await expect(deleting(HOUR_MS)).rejects.toMatchObject({
    ...protocol,
    details: [{ problem: "does not delete a batch that is not started" }],
  });
  bench.sandbox.faults.clear();
  await eviNotice.deleteBatch(bench.account, { batchId });
  bench.sandbox.faults.add(refused);
  // A new batch may not be visible yet.
  await expect(deleting(0)).rejects.toMatchObject(later);
  expect(await deleting(HOUR_MS)).toEqual({ answer: "deleted" });
});

test("a deletion that the account may not make says nothing about the batch", async () => {
  const { attempt, created, effect } = bench.batch();
  const { batchId } = await created();
  bench.sandbox.faults.add({ operation: "evi-notice.deleteBatch", kind: "reject", status: 403 });
  const long = { sinceMs: HOUR_MS };
  const deleting = attempt((all) => all.deleteBatch({ ...effect("delete"), batchId }), long);
  await expect(deleting).rejects.toMatchObject({ type: "accessDenied" });
});

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
    ...[302, 400, 403, 404, 500].map((status) => ({ status })),
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
