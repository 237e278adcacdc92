// A look sees the newest run of a process as it is, and believes encrypted answers alone where plaintext is refused.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { workflowTaskQueue } from "../../../src/contracts/shared/names.js";
import { dataConverter, workerConverters } from "../../../src/temporal/codec/data-converter.js";
import { ProcessLooksByClient } from "../../../src/temporal/visibility/process-look.js";
import { describeWorkflowQueue } from "../../../src/temporal/visibility/task-queue.js";
import { eventually } from "../../harness/outages/wait.js";
import { ofFile } from "../../harness/of-file.js";
import { clientIn, freshRing, quietTemporal, testBundle } from "../support.js";

const ring = freshRing();
const taskQueue = "looks";
const env = ofFile(quietTemporal);
let client: Client;
let looks: ProcessLooksByClient;
let worker: Worker;
let running: Promise<void>;

beforeAll(async () => {
  client = clientIn(env, dataConverter(ring));
  looks = new ProcessLooksByClient(env.nativeConnection, {
    namespace: env.namespace,
    ring,
    refusePlaintext: true,
  });
  const { workflows } = workerConverters({ ring, writeRing: undefined }, []);
  worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue,
    dataConverter: workflows,
    workflowBundle: await testBundle(),
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await running;
});

const input = { subject: "s" };
async function started(workflowId = `sendNotice/${randomUUID()}`) {
  return client.workflow.start("sendNotice", { workflowId, taskQueue, args: [input] });
}

test("what nobody has started is missing", async () => {
  expect(await looks.look(`sendNotice/${randomUUID()}`)).toEqual({ run: "missing" });
});

test("an open process shows its status, and its first input is read", async () => {
  const { workflowId } = await started();
  await eventually("its first memo", async () => {
    const found = await looks.look(workflowId);
    return found.run === "open" && found.status.state === "Sent";
  });
  expect(await looks.firstInput(workflowId)).toEqual(input);
});

test("a finished process shows its result, and a failed one its own words", async () => {
  const [good, bad] = [await started(), await started()];
  await good.signal("go", "completed");
  await bad.signal("go", "NotAccepted");
  await Promise.allSettled([good.result(), bad.result()]);
  expect(await looks.look(good.workflowId)).toMatchObject({
    run: "completed",
    result: { outcome: "read" },
  });
  expect(await looks.look(bad.workflowId)).toMatchObject({
    run: "failed",
    failure: {
      type: "NotAccepted",
      provider: "evi-notice",
      fields: [{ path: "subject", problem: "is too long" }],
    },
  });
});

test("a terminated process is told from one that failed", async () => {
  const handle = await started();
  await handle.terminate();
  expect(await looks.look(handle.workflowId)).toMatchObject({
    run: "failed",
    failure: { type: "Terminated" },
  });
});

test("whether a process is open is known where no worker answers and no key opens its result", async () => {
  const unanswered = await env.client.workflow.start("sendNotice", {
    workflowId: `sendNotice/${randomUUID()}`,
    taskQueue: "nobody",
  });
  const ended = await started();
  await ended.signal("go", "completed");
  await ended.result();
  const stranger = new ProcessLooksByClient(env.nativeConnection, {
    namespace: env.namespace,
    ring: freshRing(),
    refusePlaintext: true,
  });
  expect(await stranger.isOpen(unanswered.workflowId)).toBe(true);
  expect(await stranger.isOpen(ended.workflowId)).toBe(false);
  expect(await stranger.isOpen(`sendNotice/${randomUUID()}`)).toBe(false);
  await expect(stranger.look(ended.workflowId)).rejects.toThrow();
});

test("an end that is not encrypted is none", async () => {
  const plain = await env.client.workflow.start("sendNotice", {
    workflowId: `sendNotice/${randomUUID()}`,
    taskQueue: "nobody",
    args: [input],
  });
  await expect(looks.firstInput(plain.workflowId)).rejects.toThrow(/not encrypted/);
});

test("the server tells how long a workflow task has been waiting for a worker", async () => {
  const where = { connection: env.connection, namespace: env.namespace };
  const age = async () => (await describeWorkflowQueue(where, workflowTaskQueue)).backlogAgeMs;
  expect(await age()).toBe(0);
  await client.workflow.start("sendNotice", {
    workflowId: `sendNotice/${randomUUID()}`,
    taskQueue: workflowTaskQueue,
    args: [input],
  });
  await eventually("a backlog", async () => (await age()) > 0);
});
