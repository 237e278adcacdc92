// What a client reads of a process from Temporal alone, and when it asks a worker (docs/decisions/0035).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import {
  TerminatedError,
  TimedOutError,
  UnprovenAnswerError,
  UnreachableError,
} from "../../src/client.js";
import { ProcessHandle } from "../../src/client/handle.js";
import { queryTooEarly } from "../../src/contracts/shared/messages.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { ofFile } from "../harness/of-file.js";
import {
  clientIn,
  freshRing,
  quietTemporal,
  testBundle,
  untilFirstTask,
} from "../temporal/support.js";
import type { Shown } from "./status.workflows.js";

const converter = dataConverter(freshRing());
const entry = { at: "2026-01-01T00:00:00.000Z", source: "query", event: "Sent" };
const reported = [{ at: entry.at, kind: "Read", ipAddress: "192.0.2.1" }];
const taskQueue = "statuses";
const { WORKFLOW_EXECUTION_STATUS_PAUSED: PAUSED } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;
const env = ofFile(quietTemporal);
let client: Client;

type TestHandle = ProcessHandle<unknown>;

async function started(shown: Shown): Promise<TestHandle> {
  const handle = new ProcessHandle<unknown>(client, "sendPostal", randomUUID());
  const { workflowId } = handle;
  await client.workflow.start("sendPostal", { workflowId, taskQueue, args: [shown] });
  return handle;
}

const newWorker = async () =>
  Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue,
    dataConverter: converter,
    workflowBundle: await testBundle(),
  });

const ended = ({ workflowId }: TestHandle) =>
  client.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);

const firstTask = ({ workflowId }: TestHandle) =>
  untilFirstTask(client.workflow.getHandle(workflowId));

/** The process, as a server describes it with these members. */
async function describedAs({ workflowId, id }: TestHandle, more: object, info: object = {}) {
  const { namespace, connection } = env;
  const { workflowService: service } = connection;
  const execution = { workflowId };
  const described = await service.describeWorkflowExecution({ namespace, execution });
  Object.assign(described, more);
  Object.assign(described.workflowExecutionInfo ?? {}, info);
  const workflowService = Object.create(service, {
    describeWorkflowExecution: { value: async () => described },
  }) as typeof service;
  const given = Object.create(connection, {
    workflowService: { value: workflowService },
  }) as typeof connection;
  const away = new Client({ connection: given, namespace, dataConverter: converter });
  return new ProcessHandle<unknown>(away, "sendPostal", id);
}

const terminated = async (handle: TestHandle) => {
  await firstTask(handle);
  await client.workflow.getHandle(handle.workflowId).terminate();
};

async function watched(handle: TestHandle): Promise<ProcessStatus[]> {
  const seen: ProcessStatus[] = [];
  for await (const status of handle.watch()) seen.push(status);
  return seen;
}

const fields = [{ path: "(input)", problem: "is not encrypted" }];
const result = { outcome: "delivered", references: { uniqueId: "u" }, timeline: [entry] };

/** What becomes of processes before their worker goes. */
const brought = {
  failed: [{ end: { type: "InvalidInput", details: [{ fields }] } }, ended],
  terminated: [{}, terminated],
  completed: [{ end: { result: { ...result, reported } } }, ended],
  withoutResult: [{ end: {} }, ended],
  withoutResultButMemo: [{ memo: {}, end: {} }, ended],
  withoutMemo: [{}, firstTask],
  withoutReferences: [{ memo: { references: null } }, firstTask],
  sent: [{ memo: { state: "Sent" } }, firstTask],
  terminatedWithMemo: [{ memo: { timeline: [entry] } }, terminated],
} satisfies Record<string, [Shown, until: (handle: TestHandle) => Promise<unknown>]>;
let left: Record<keyof typeof brought, TestHandle>;

beforeAll(async () => {
  client = clientIn(env, converter);
  const bringing = Object.entries(brought).map(async ([name, [shown, until]]) => {
    const handle = await started(shown);
    await until(handle);
    return [name, handle];
  });
  const all = Promise.all(bringing);
  left = Object.fromEntries(await (await newWorker()).runUntil(all));
}, 60_000);

test("a process that failed, or was terminated, before its first memo ends a watch with that, and asks no worker", async () => {
  const failure = { type: "InvalidInput", message: "said", fields };
  const { process: processName, id } = left.failed;
  const shown = { process: processName, id, phase: "ended", failure, timeline: [] };
  expect(await watched(left.failed)).toEqual([expect.objectContaining(shown)]);
  await expect(watched(left.terminated)).rejects.toThrow(TerminatedError);
});

test("a completed process without a memo shows its result, the full status in full, and asks no worker", async () => {
  const shown = { phase: "ended", state: "Sent", ...result };
  const [status, ...others] = await watched(left.completed);
  expect([status, others]).toEqual([expect.objectContaining(shown), []]);
  expect(status).not.toHaveProperty("reported");
  expect(await left.completed.fullStatus()).toMatchObject({ ...shown, reported });
});

test("an end without a result is no end, with a memo or without", async () => {
  for (const handle of [left.withoutResult, left.withoutResultButMemo])
    await expect(handle.status()).rejects.toThrow(UnprovenAnswerError);
});

test("a process is new before its first task, and after tasks without a memo or with one without references", async () => {
  const handle = new ProcessHandle<unknown>(client, "sendPostal", randomUUID());
  const { workflowId } = handle;
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody", args: [{}] });
  for (const one of [handle, left.withoutMemo])
    expect(await one.status()).toMatchObject({ phase: "submitting", environment: "unknown" });
  const status = await left.withoutReferences.status();
  expect(status).toMatchObject({ phase: "submitting", references: {} });
});

test("the timeline of a terminated process is that of its memo, without a worker, if that is whole", async () => {
  expect(await left.terminatedWithMemo.timeline()).toEqual([entry]);
});

test("a process whose task waits for a worker shows its memo, however long, and is not stuck", async () => {
  const minutesAgo = { seconds: Math.floor(Date.now() / 1_000) - 600, nanos: 0 };
  const task = { originalScheduledTime: minutesAgo, scheduledTime: minutesAgo, state: 1 };
  for (const attempt of [1, 9]) {
    const found = await describedAs(left.sent, { pendingWorkflowTask: { ...task, attempt } });
    expect(await found.status()).toMatchObject({ state: "Sent" });
  }
}, 30_000);

test("a process that is paused at Temporal is open, and a watch of it goes on", async () => {
  const handle = await describedAs(left.sent, {}, { status: PAUSED });
  expect(await handle.isOpen()).toBe(true);
  const seen: unknown[] = [];
  const watching = async () => {
    for await (const { state } of handle.watch({ timeoutMs: 1_000 })) seen.push(state);
  };
  await expect(watching()).rejects.toThrow(TimedOutError);
  expect(seen).toEqual(["Sent"]);
});

describe("while a worker is there", () => {
  let worker: Worker;
  let running: Promise<void>;
  beforeAll(async () => {
    worker = await newWorker();
    running = worker.run();
  });
  afterAll(async () => {
    worker.shutdown();
    await running;
  });

  test("the full status of an open process is asked of it, in full", async () => {
    const handle = await started({ queried: { phase: "tracking" }, full: { reported } });
    await firstTask(handle);
    expect(await handle.status()).not.toHaveProperty("reported");
    expect(await handle.fullStatus()).toMatchObject({ phase: "tracking", reported });
  });

  test("one that cannot answer yet is asked again", async () => {
    const shown = { queried: { timeline: [entry] }, refusal: "cannot replay", refusals: 2 };
    const handle = await started(shown);
    await firstTask(handle);
    expect(await handle.timeline()).toEqual([entry]);
  });

  test("the timeline of a terminated process is asked of it, and not again and again", async () => {
    const memo = { timeline: [entry], earlierEntries: 1 };
    const handle = await started({ memo, queried: { timeline: [entry, entry] } });
    await terminated(handle);
    expect(await handle.timeline()).toEqual([entry, entry]);
    const refused = await started({ memo, refusal: queryTooEarly });
    await terminated(refused);
    await expect(refused.timeline()).rejects.toThrow(TerminatedError);
  }, 20_000);

  test("the timeline of a failed process that it cannot replay is not asked again and again", async () => {
    const end = { type: "NotAccepted", details: [{ fields: [] }] };
    const handle = await started({ end, refusal: queryTooEarly });
    await ended(handle);
    const failed = await handle.timeline().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UnreachableError);
    expect((failed as Error).message).toContain("has ended, and this release cannot replay it");
  }, 10_000);
});
