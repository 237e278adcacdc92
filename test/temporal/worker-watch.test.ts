// A worker that does no more work although it runs is noticed by three signs; one that works is not.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime } from "@temporalio/worker";
import type { WorkflowBundleWithSourceMap } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { redactingLogger } from "../../src/temporal/logging.js";
import { WatchedWorker, watchWorker } from "../../src/temporal/worker-watch.js";
import { eventually } from "../harness/outages/wait.js";
import { startServer } from "./support.js";

const limits = { everyMs: 100, activationLimitMs: 60_000, pollLimitMs: 60_000 };
let env: TestWorkflowEnvironment;
let bundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await startServer();
  bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("worker-watch.workflows.ts", import.meta.url)),
    logger: new DefaultLogger("ERROR"),
  });
}, 120_000);
afterAll(() => env?.teardown());

/** `gate`: no payload is decoded before it opens. */
async function working(
  watching: Partial<typeof limits>,
  work: (taskQueue: string, reasons: string[]) => Promise<void>,
  gate: Promise<void> = Promise.resolve(),
) {
  const taskQueue = randomUUID();
  const worker = (await WatchedWorker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: bundle,
    dataConverter: {
      payloadCodecs: [
        {
          encode: async (payloads) => payloads,
          decode: async (payloads) => gate.then(() => payloads),
        },
      ],
    },
  })) as WatchedWorker;
  const reasons: string[] = [];
  const where = { connection: env.nativeConnection, namespace: "default" };
  const watch = watchWorker(worker, { ...where, ...limits, ...watching }, (reason) =>
    reasons.push(reason),
  );
  await worker.runUntil(() => work(taskQueue, reasons));
  watch.close();
}

const started = (taskQueue: string) =>
  env.client.workflow.start("echo", { taskQueue, workflowId: randomUUID(), args: ["said"] });

// The server knows the time of a poll to five seconds.
test("a worker that works longer than its limits is let alone", async () => {
  const began = Date.now();
  await working({ activationLimitMs: 3_000, pollLimitMs: 7_000 }, async (taskQueue, reasons) => {
    while (Date.now() - began < 15_000)
      expect(await (await started(taskQueue)).result()).toBe("said");
    expect(reasons).toEqual([]);
  });
}, 60_000);

test("an activation that does not end is noticed, once", async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  await working(
    { activationLimitMs: 500 },
    async (taskQueue, reasons) => {
      const handle = await started(taskQueue);
      await eventually("a problem", async () => reasons.length > 0);
      expect(reasons).toEqual(["a workflow activation has not ended for a minute"]);
      open();
      await handle.result();
    },
    gate,
  );
}, 60_000);

test("a worker that does not poll its queue is noticed", async () => {
  const reasons: string[] = [];
  const idle = {
    oldestActivationMs: 0,
    getState: () => "RUNNING" as const,
    options: { taskQueue: randomUUID(), identity: "idle" } as WatchedWorker["options"],
  };
  const where = { connection: env.nativeConnection, namespace: "default" };
  const watch = watchWorker(idle, { ...where, ...limits, pollLimitMs: 500 }, (reason) =>
    reasons.push(reason),
  );
  await eventually("a problem", async () => reasons.length > 0);
  watch.close();
  expect(reasons).toEqual([
    `it has not polled the task queue ${idle.options.taskQueue} for minutes`,
  ]);
}, 60_000);

test("the line with which the SDK loses an activation is noticed, whatever the level of the log", async () => {
  await working({}, async (_, reasons) => {
    const logger = redactingLogger("ERROR", { write: () => undefined });
    logger.error("something else");
    expect(reasons).toEqual([]);
    logger.error("Extra buffered run should not have produced an activation");
    expect(reasons).toEqual(["the SDK has lost a workflow activation"]);
  });
}, 60_000);
