// What a client reads of a process from Temporal alone, and when it asks a worker (docs/decisions/0035).
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { TerminatedError, UnprovenAnswerError, UnreachableError } from "../../src/client.js";
import { ProcessHandle } from "../../src/client/handle.js";
import { queryTooEarly } from "../../src/contracts/shared/messages.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { freshRing, testBundle, testTemporal, untilFirstTask } from "../temporal/support.js";
import type { TestTemporal } from "../temporal/support.js";
import type { Shown } from "./status.workflows.js";

const converter = dataConverter(freshRing());
const entry = { at: "2026-01-01T00:00:00.000Z", source: "query", event: "Sent" };
let env: TestTemporal;
let client: Client;
let bundle: Awaited<ReturnType<typeof testBundle>>;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal();
  client = new Client({
    connection: env.connection,
    namespace: env.namespace,
    dataConverter: converter,
  });
  bundle = await testBundle();
}, 120_000);
afterAll(() => env?.teardown());

type TestHandle = ProcessHandle<unknown>;

/** Starts it on a queue of its own, and does the work while a worker is there. */
async function withWorker<T>(
  shown: Shown,
  work: (handle: TestHandle) => Promise<T>,
): Promise<{ handle: TestHandle; found: T }> {
  const handle = new ProcessHandle<unknown>(client, "sendPostal", randomUUID());
  const { workflowId, id: taskQueue } = handle;
  await client.workflow.start("sendPostal", { workflowId, taskQueue, args: [shown] });
  const worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue,
    dataConverter: converter,
    workflowBundle: bundle,
  });
  return { handle, found: await worker.runUntil(() => work(handle)) };
}

const ended = ({ workflowId }: TestHandle) =>
  client.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);

const firstTask = ({ workflowId }: TestHandle) =>
  untilFirstTask(client.workflow.getHandle(workflowId));

const terminated = async (handle: TestHandle) => {
  await firstTask(handle);
  await client.workflow.getHandle(handle.workflowId).terminate();
};

async function watched(handle: TestHandle): Promise<ProcessStatus[]> {
  const seen: ProcessStatus[] = [];
  for await (const status of handle.watch()) seen.push(status);
  return seen;
}

test("a process that failed before its first memo ends a watch with its failure, and asks no worker", async () => {
  const fields = [{ path: "(input)", problem: "is not encrypted" }];
  const end = { type: "InvalidInput", details: [{ fields }] };
  const { handle } = await withWorker({ end }, ended);
  const failure = { type: "InvalidInput", message: "said", fields };
  const { process: processName, id } = handle;
  const shown = { process: processName, id, phase: "ended", failure, timeline: [] };
  expect(await watched(handle)).toEqual([expect.objectContaining(shown)]);
}, 30_000);

test("a process that was terminated before its first memo ends a watch with that, and asks no worker", async () => {
  const { handle } = await withWorker({}, terminated);
  await expect(watched(handle)).rejects.toThrow(TerminatedError);
}, 30_000);

test("a completed process without a memo shows its result", async () => {
  const result = { outcome: "delivered", references: { uniqueId: "u" }, timeline: [entry] };
  const { handle } = await withWorker({ end: { result } }, ended);
  const shown = { phase: "ended", state: "Sent", ...result };
  expect(await watched(handle)).toEqual([expect.objectContaining(shown)]);
}, 30_000);

test.each([{}, { memo: {} }])("an end without a result is no end (%j)", async (shown) => {
  const { handle } = await withWorker({ ...shown, end: {} }, ended);
  await expect(handle.status()).rejects.toThrow(UnprovenAnswerError);
});

test("a process is new before its first task, and after tasks without a memo", async () => {
  const started = new ProcessHandle<unknown>(client, "sendPostal", randomUUID());
  const { workflowId } = started;
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody", args: [{}] });
  expect(await started.status()).toMatchObject({ phase: "submitting", environment: "unknown" });
  const { handle } = await withWorker({}, firstTask);
  expect(await handle.status()).toMatchObject({ phase: "submitting", environment: "unknown" });
}, 30_000);

test("a memo without references is none", async () => {
  const memo = { references: null };
  const { handle } = await withWorker({ memo }, firstTask);
  expect(await handle.status()).toMatchObject({ phase: "submitting", references: {} });
}, 30_000);

test("a worker that cannot answer yet is asked again", async () => {
  const shown = { queried: { timeline: [entry] }, refusal: "cannot replay", refusals: 2 };
  const { found } = await withWorker(shown, async (handle) => {
    await firstTask(handle);
    return handle.timeline();
  });
  expect(found).toEqual([entry]);
}, 30_000);

test("the timeline of a terminated process is that of its memo, without a worker, if that is whole", async () => {
  const { handle } = await withWorker({ memo: { timeline: [entry] } }, terminated);
  expect(await handle.timeline()).toEqual([entry]);
}, 30_000);

test("the timeline of a terminated process is asked of a worker, and not again and again", async () => {
  const memo = { timeline: [entry], earlierEntries: 1 };
  const whole = [entry, entry];
  const timelineOf = async (handle: TestHandle) => {
    await terminated(handle);
    return handle.timeline();
  };
  const { found } = await withWorker({ memo, queried: { timeline: whole } }, timelineOf);
  expect(found).toEqual(whole);
  const refused = withWorker({ memo, refusal: queryTooEarly }, timelineOf);
  await expect(refused).rejects.toThrow(TerminatedError);
}, 20_000);

test("the timeline of a failed process that no worker can replay is not asked again and again", async () => {
  const end = { type: "NotAccepted", details: [{ fields: [] }] };
  const { found } = await withWorker({ end, refusal: queryTooEarly }, async (handle) => {
    await ended(handle);
    return handle.timeline().catch((error: unknown) => error);
  });
  expect(found).toBeInstanceOf(UnreachableError);
  expect((found as Error).message).toContain("has ended, and this release cannot replay it");
}, 10_000);

test("a process whose task waits for a worker shows its memo, however long, and is not stuck", async () => {
  const { handle } = await withWorker({ memo: { state: "Sent" } }, firstTask);
  const { namespace } = env;
  const { workflowService: service } = env.connection;
  const minutesAgo = { seconds: Math.floor(Date.now() / 1_000) - 600, nanos: 0 };
  const task = { originalScheduledTime: minutesAgo, scheduledTime: minutesAgo, state: 1 };
  for (const attempt of [1, 9]) {
    const described = await service.describeWorkflowExecution({
      namespace,
      execution: { workflowId: handle.workflowId },
    });
    const late = Object.assign(described, { pendingWorkflowTask: { ...task, attempt } });
    const workflowService = Object.create(service, {
      describeWorkflowExecution: { value: async () => late },
    }) as typeof service;
    const connection = Object.create(env.connection, {
      workflowService: { value: workflowService },
    }) as typeof env.connection;
    const away = new Client({ connection, namespace, dataConverter: converter });
    const found = new ProcessHandle<unknown>(away, "sendPostal", handle.id);
    expect(await found.status()).toMatchObject({ state: "Sent" });
  }
}, 30_000);

const reported = [{ at: entry.at, kind: "Read", ipAddress: "192.0.2.1" }];

test("the full status of an open process is asked of a worker, in full", async () => {
  const shown = { queried: { phase: "tracking" }, full: { reported } };
  const { found } = await withWorker(shown, async (handle) => {
    await firstTask(handle);
    return [await handle.status(), await handle.fullStatus()];
  });
  expect(found[0]).not.toHaveProperty("reported");
  expect(found[1]).toMatchObject({ phase: "tracking", reported });
}, 30_000);

test("the full status of a completed process is in its result, and asks no worker", async () => {
  const result = { outcome: "read", references: {}, timeline: [entry], reported };
  const { handle } = await withWorker({ end: { result } }, ended);
  expect(await handle.fullStatus()).toMatchObject({ phase: "ended", outcome: "read", reported });
  expect(await handle.status()).not.toHaveProperty("reported");
}, 30_000);
