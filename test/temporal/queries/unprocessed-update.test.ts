// A worker may finish a workflow task without an answer to the update that it brought: Temporal then refuses the update, which
// has not happened. Our client asks again, and the update happens once.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { defineUpdate } from "@temporalio/workflow";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { ProcessHandle } from "../../../src/client/handle.js";
import { startServer } from "../support.js";

let env: TestWorkflowEnvironment;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await startServer();
}, 120_000);

afterAll(() => env?.teardown());

const taskQueue = "forgetful";
const place = { namespace: "default", identity: "forgetful", taskQueue: { name: taskQueue } };

/** Takes the next workflow task and finishes it with nothing. */
async function finishEmpty(): Promise<void> {
  const { connection } = env.client;
  await connection.withDeadline(Date.now() + 60_000, async () => {
    const { taskToken } = await connection.workflowService.pollWorkflowTaskQueue(place);
    await connection.workflowService.respondWorkflowTaskCompleted({ ...place, taskToken });
  });
}

class TestHandle extends ProcessHandle<number> {
  count(): Promise<unknown> {
    return this.update(defineUpdate<number>("count"), [], randomUUID());
  }
}

test("an update that a worker left unanswered is asked again, and happens once", async () => {
  const handle = new TestHandle(env.client, "sendMessage", randomUUID());
  const { workflowId } = handle;
  await env.client.workflow.start("counts", { taskQueue, workflowId });
  await finishEmpty();
  const answer = handle.count();
  await finishEmpty();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: "default",
    taskQueue,
    workflowsPath: fileURLToPath(new URL("unprocessed-update.workflows.ts", import.meta.url)),
  });
  await worker.runUntil(async () => {
    expect(await answer).toBe(1);
    expect(await handle.result()).toBe(1);
  });
}, 60_000);
