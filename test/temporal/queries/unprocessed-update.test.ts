// A worker may finish a workflow task without an answer to the update that it brought: Temporal then refuses the update, which
// has not happened. Our client asks again, and the update happens once.
import { expect, test } from "vitest";
import { Worker } from "@temporalio/worker";
import { defineUpdate } from "@temporalio/workflow";
import { randomUUID } from "node:crypto";
import { ProcessHandle } from "../../../src/client/handle.js";
import { ofFile } from "../../harness/of-file.js";
import { quietTemporal, testBundle } from "../support.js";

const env = ofFile(quietTemporal);
const taskQueue = "forgetful";

/** Takes the next workflow task and finishes it with nothing. */
async function finishEmpty(): Promise<void> {
  const { connection, namespace } = env;
  const place = { namespace, identity: "forgetful", taskQueue: { name: taskQueue } };
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
    namespace: env.namespace,
    taskQueue,
    workflowBundle: await testBundle(),
  });
  await worker.runUntil(async () => {
    expect(await answer).toBe(1);
    expect(await handle.result()).toBe(1);
  });
}, 60_000);
