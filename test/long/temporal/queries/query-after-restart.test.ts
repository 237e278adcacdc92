// A query that waited for a worker while an event came would leave a history that does not replay; the guard of our workers prevents that
// (docs/decisions/0015-time-in-workflows.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { QueryNotRegisteredError } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { queryTooEarly } from "../../../../src/contracts/shared/messages.js";
import { failureConverterPath } from "../../../../src/temporal/codec/data-converter.js";
import { until } from "../../../harness/outages/wait.js";
import { bundled } from "../../../harness/stack/bundles.js";
import { testTemporal } from "../../../temporal/support.js";
import type { TestTemporal } from "../../../temporal/support.js";

const CONCURRENCY = 15;
/** Which of the two tasks a new worker gets first is chance: about every second query comes first. */
const ROUNDS = 10;

let env: TestTemporal;
let workflowBundle: Awaited<ReturnType<typeof bundled>>;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal();
  workflowBundle = await bundled("guarded-queries", {
    workflowsPath: file("query-after-restart.workflows.ts"),
    workflowInterceptorModules: [file("../../../../src/workflows/runtime/query-guard.ts")],
  });
}, 120_000);

afterAll(() => env?.teardown());

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

async function working<T>(work: () => Promise<T>): Promise<T> {
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

async function has(handle: WorkflowHandle, event: "timerStarted" | "timerFired"): Promise<boolean> {
  const { events = [] } = await handle.fetchHistory();
  return (events ?? []).some((one) => one[`${event}EventAttributes`]);
}

/**
 * Each process waits; the worker stops; a client queries; the timer fires; a worker starts. Returns the answers, and the
 * histories that do not replay.
 */
async function round() {
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
  await working(() => until(() => all("timerStarted")));
  const asked = handles.map((handle) => handle.query<number>("turns").catch((error) => error));
  await until(() => all("timerFired"));
  await working(async () => {
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

test("the guard refuses no query of a waiting process, in the worker's memory or not", async () => {
  await working(async () => {
    for (let number = 0; number < 2; number += 1) {
      const handle = await env.client.workflow.start("decidesByTheClock", {
        taskQueue: "restarted",
        workflowId: randomUUID(),
      });
      await until(() => has(handle, "timerStarted"));
      for (let again = 0; again < 3; again += 1)
        expect(await handle.query<number>("turns")).toBe(0);
      await handle.result();
      expect(await handle.query<number>("turns")).toBeGreaterThan(0);
    }
  });
}, 300_000);

test("the guard refuses such a query; every history replays, and no workflow task fails", async () => {
  const refused: unknown[] = [];
  for (let number = 0; number < ROUNDS && refused.length === 0; number += 1) {
    const { answers, corrupt, failedTasks } = await round();
    expect([corrupt, failedTasks]).toEqual([0, 0]);
    refused.push(...answers.filter((answer) => typeof answer !== "number"));
  }
  expect(refused.length).toBeGreaterThan(0);
  for (const error of refused) {
    expect(error).toBeInstanceOf(QueryNotRegisteredError);
    expect(String(error)).toContain(queryTooEarly);
  }
}, 300_000);
