// A worker that does no more work although it runs is noticed by three signs; one that works is not.
import { afterAll, beforeAll, expect, vi, test } from "vitest";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime } from "@temporalio/worker";
import type { WorkflowBundleWithSourceMap } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { redactingLogger } from "../../src/temporal/logging.js";
import { problems, WatchedWorker, watchWorker } from "../../src/temporal/worker-watch.js";
import { eventually } from "../harness/outages/wait.js";
import { startServer } from "./support.js";

const limits = { everyMs: 100, activationLooks: 600, pollLooks: 600, backlogMs: 0 };
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
    debugMode: true,
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

// With `backlogMs` 0 as if tasks waited all the time.
test("a worker that works longer than its limits is let alone", async () => {
  const began = Date.now();
  await working({ activationLooks: 30, pollLooks: 70 }, async (taskQueue, reasons) => {
    for (; Date.now() - began < 15_000; await delay(200))
      expect(await (await started(taskQueue)).result()).toBe("said");
    expect(reasons).toEqual([]);
  });
}, 60_000);

test("an activation that does not end is noticed, once", async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  await working(
    { activationLooks: 5 },
    async (taskQueue, reasons) => {
      const handle = await started(taskQueue);
      await eventually("a problem", async () => reasons.length > 0);
      expect(reasons).toEqual([problems.activation]);
      open();
      await handle.result();
    },
    gate,
  );
}, 60_000);

/** What the server says at a look: when this worker polled last, and how old the backlog is; "error" where it does not answer. */
type Answer = [polledAtSecond: number | undefined, backlogSeconds: number] | "error" | "never";

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

/** The problems that are found while the server gives these answers, one at each look. */
async function foundWith(answers: Answer[], oldestActivations: (object | undefined)[] = []) {
  const seconds = (second: number) => ({ seconds: second, nanos: 0 });
  const found: string[] = [];
  let asked = 0;
  let looks = 0;
  const describeTaskQueue = async () => {
    const answer = answers[asked++] as Answer;
    if (answer === "never") return new Promise(() => undefined);
    if (answer === "error") throw new Error("the server is away");
    const [at, backlog] = answer;
    const own = at === undefined ? [] : [{ identity: "own", lastAccessTime: seconds(at) }];
    return {
      pollers: [...own, { identity: "other", lastAccessTime: seconds(100 + asked) }],
      stats: { approximateBacklogAge: seconds(backlog) },
    };
  };
  const worker = {
    get oldestActivation() {
      return oldestActivations[looks];
    },
    getState: () => "RUNNING" as const,
    options: { taskQueue: "queue", identity: "own" } as WatchedWorker["options"],
  };
  const connection = { workflowService: { describeTaskQueue } } as never;
  const given = { connection, namespace: "default", everyMs: 1_000 };
  vi.useFakeTimers();
  try {
    const few = { activationLooks: 3, pollLooks: 3, backlogMs: 60_000 };
    const watch = watchWorker(worker, { ...given, ...few }, (problem) => found.push(problem));
    for (; looks < Math.max(answers.length, oldestActivations.length); looks += 1)
      await vi.advanceTimersByTimeAsync(1_000);
    watch.close();
  } finally {
    vi.useRealTimers();
  }
  return { found, asked };
}

test.each<[string, Answer[]]>([
  ["while it polls", [1, 2, 3, 4, 5, 6].map((at) => [at, 90])],
  ["while no task waits", times<Answer>(9, [1, 0])],
  ["before the server has known a poll of it", times<Answer>(9, [undefined, 90])],
  [
    "after one look at an old poll, as after a sleep of the machine",
    [
      [1, 90],
      [1, 90],
      [2, 90],
    ],
  ],
  ["while the server does not answer", [[1, 90], ...times<Answer>(9, "error")]],
])("a worker is let alone %s", async (_, answers) => {
  expect((await foundWith(answers)).found).toEqual([]);
});

test.each<[string, Answer[]]>([
  ["in look after look", times<Answer>(4, [1, 90])],
  ["and the server forgets it", [[1, 90], ...times<Answer>(3, [undefined, 90])]],
  ["with an outage in between", [[1, 90], [1, 90], "error", [1, 90], [1, 90]]],
])("a worker that does not poll while tasks wait is noticed %s", async (_, answers) => {
  expect((await foundWith(answers)).found).toEqual([problems.polls]);
});

test("a look that gets no answer is the only one, and activations are watched on", async () => {
  const one = {};
  const { found, asked } = await foundWith(times<Answer>(6, "never"), times(6, one));
  expect({ found, asked }).toEqual({ found: [problems.activation], asked: 1 });
});

test("activations that are each seen twice are let alone", async () => {
  const activations = [{}, {}, {}, {}].flatMap((one) => [one, one]);
  const answers = activations.map((): Answer => [1, 0]);
  expect((await foundWith(answers, activations)).found).toEqual([]);
});

test("a worker that the server knows as one that has ended is noticed", async () => {
  const taskQueue = randomUUID();
  const identity = "gone";
  const gone = await WatchedWorker.create({
    connection: env.nativeConnection,
    taskQueue,
    identity,
    workflowBundle: bundle,
  });
  await gone.runUntil(async () => (await started(taskQueue)).result());
  await started(taskQueue);
  const idle = {
    oldestActivation: undefined,
    getState: () => "RUNNING" as const,
    options: { taskQueue, identity } as WatchedWorker["options"],
  };
  const reasons: string[] = [];
  const where = { connection: env.nativeConnection, namespace: "default" };
  const settings = { ...where, ...limits, pollLooks: 10, backlogMs: 1_000 };
  const watch = watchWorker(idle, settings, (reason) => reasons.push(reason));
  await eventually("a problem", async () => reasons.length > 0);
  watch.close();
  expect(reasons).toEqual([problems.polls]);
}, 60_000);

test("the line with which the SDK loses an activation is noticed, whatever the level of the log", async () => {
  await working({}, async (_, reasons) => {
    const logger = redactingLogger("ERROR", { write: () => undefined });
    logger.error("something else");
    expect(reasons).toEqual([]);
    logger.error("Extra buffered run should not have produced an activation");
    expect(reasons).toEqual([problems.lost]);
  });
}, 60_000);
