// What SDK 1.24 does with a query that waited for a worker while an event came, and that the guard of our workers prevents it
// (docs/decisions/0015-time-in-workflows.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { QueryNotRegisteredError } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { TerminatedError } from "../../../../src/errors/index.js";
import { ProcessHandle } from "../../../../src/client/handle.js";
import { queryTooEarly } from "../../../../src/contracts/shared/messages.js";
import { failureConverterPath } from "../../../../src/temporal/codec/data-converter.js";
import { bundled } from "../../../harness/stack/bundles.js";
import { testTemporal } from "../../../temporal/support.js";
import type { TestTemporal } from "../../../temporal/support.js";

const CONCURRENCY = 15;
/** Which of the two tasks a new worker gets first is chance: about every second query comes first. */
const ROUNDS = 10;

let env: TestTemporal;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal();
}, 120_000);

afterAll(() => env?.teardown());

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const bundle = (name: string, workflowInterceptorModules: string[]) =>
  bundled(name, {
    workflowsPath: file("query-after-restart.workflows.ts"),
    workflowInterceptorModules,
  });
const guardedBundle = () =>
  bundle("guarded-queries", [file("../../../../src/workflows/runtime/query-guard.ts")]);

async function working<T>(
  workflowBundle: Awaited<ReturnType<typeof bundled>>,
  work: () => Promise<T>,
): Promise<T> {
  const worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue: "restarted",
    workflowBundle,
    dataConverter: { failureConverterPath },
    activities: { act: async () => undefined },
  });
  return worker.runUntil(work);
}

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(50);
}

async function has(handle: WorkflowHandle, event: "timerStarted" | "timerFired"): Promise<boolean> {
  const { events = [] } = await handle.fetchHistory();
  return (events ?? []).some((one) => one[`${event}EventAttributes`]);
}

/**
 * Each process waits; the worker stops; a client queries; the timer fires; a worker starts. Returns the answers, and the
 * histories that do not replay.
 */
async function round(workflowBundle: Awaited<ReturnType<typeof bundled>>) {
  const handles = await Promise.all(
    Array.from({ length: CONCURRENCY }, () =>
      env.client.workflow.start("decidesByTheClock", {
        taskQueue: "restarted",
        workflowId: randomUUID(),
      }),
    ),
  );
  const all = async (event: "timerStarted" | "timerFired") =>
    (await Promise.all(handles.map((handle) => has(handle, event)))).every(Boolean);
  await working(workflowBundle, () => eventually(() => all("timerStarted")));
  const asked = handles.map((handle) => handle.query<number>("turns").catch((error) => error));
  await eventually(() => all("timerFired"));
  await working(workflowBundle, async () => {
    await Promise.all(asked);
    await Promise.all(handles.map((handle) => handle.result()));
  });
  const histories = await Promise.all(
    handles.map(async (handle) => ({
      workflowId: handle.workflowId,
      history: await handle.fetchHistory(),
    })),
  );
  let corrupt = 0;
  for await (const { error } of Worker.runReplayHistories(
    { workflowBundle, dataConverter: { failureConverterPath } },
    histories,
  ))
    if (error) corrupt += 1;
  const failedTasks = histories.flatMap(({ history }) =>
    (history.events ?? []).filter((event) => event.workflowTaskFailedEventAttributes),
  );
  return { answers: await Promise.all(asked), corrupt, failedTasks: failedTasks.length };
}

test("without the guard, a query that comes before its task leaves a history that does not replay", async () => {
  const unguarded = await bundle("unguarded-queries", []);
  let corrupt = 0;
  for (let number = 0; number < ROUNDS && corrupt === 0; number += 1)
    corrupt += (await round(unguarded)).corrupt;
  expect(corrupt).toBeGreaterThan(0);
}, 300_000);

test("the guard refuses no query of a waiting process, in the worker's memory or not", async () => {
  const guarded = await guardedBundle();
  await working(guarded, async () => {
    for (let number = 0; number < 2; number += 1) {
      const handle = await env.client.workflow.start("decidesByTheClock", {
        taskQueue: "restarted",
        workflowId: randomUUID(),
      });
      await eventually(() => has(handle, "timerStarted"));
      for (let again = 0; again < 3; again += 1)
        expect(await handle.query<number>("turns")).toBe(0);
      await handle.result();
      expect(await handle.query<number>("turns")).toBeGreaterThan(0);
    }
  });
}, 300_000);

test("the guard refuses such a query; every history replays, and no workflow task fails", async () => {
  const guarded = await guardedBundle();
  const refused: unknown[] = [];
  for (let number = 0; number < ROUNDS && refused.length === 0; number += 1) {
    const { answers, corrupt, failedTasks } = await round(guarded);
    expect([corrupt, failedTasks]).toEqual([0, 0]);
    refused.push(...answers.filter((answer) => typeof answer !== "number"));
  }
  expect(refused.length).toBeGreaterThan(0);
  for (const error of refused) {
    expect(error).toBeInstanceOf(QueryNotRegisteredError);
    expect(String(error)).toContain(queryTooEarly);
  }
}, 300_000);

test("a process that was terminated with events that no task has taken is shown as terminated", async () => {
  const guarded = await guardedBundle();
  const handle = await env.client.workflow.start("decidesByTheClock", {
    taskQueue: "restarted",
    workflowId: `sendPostal/${randomUUID()}`,
  });
  await working(guarded, () => eventually(() => has(handle, "timerStarted")));
  await eventually(() => has(handle, "timerFired"));
  await handle.terminate();
  const id = handle.workflowId.replace("sendPostal/", "");
  const status = () => new ProcessHandle(env.client, "sendPostal", id).status();
  await working(guarded, () => expect(status()).rejects.toBeInstanceOf(TerminatedError));
}, 60_000);
