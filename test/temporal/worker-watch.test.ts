// A worker that does no more work although it runs is noticed by three signs; one that works is not. And how it stops.
import { expect, vi, test } from "vitest";
import type { Payload } from "@temporalio/common";
import { Worker } from "@temporalio/worker";
import type { WorkerOptions } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { redactingLogger } from "../../src/temporal/logging.js";
import { pollsAtAllPartitions } from "../../src/temporal/visibility/task-queue.js";
import { problems, watchWorker } from "../../src/temporal/worker-watch.js";
import { WorkflowWorker } from "../../src/temporal/workflow-worker.js";
import { eventually } from "../harness/outages/wait.js";
import { ofFile } from "../harness/of-file.js";
import { quietTemporal, testBundle } from "./support.js";

const limits = { everyMs: 100, activationLooks: 600, pollLooks: 600, unseenLooks: 5, backlogMs: 0 };
const env = ofFile(quietTemporal);

const workerOf = async (options: Pick<WorkerOptions, "taskQueue" | "identity" | "dataConverter">) =>
  (await WorkflowWorker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    workflowBundle: await testBundle(),
    ...options,
  })) as WorkflowWorker;

/** `gate`: no payload is decoded before it opens. */
async function working(
  watching: Partial<typeof limits>,
  work: (taskQueue: string, reasons: string[]) => Promise<void>,
  gate: Promise<void> = Promise.resolve(),
) {
  const taskQueue = randomUUID();
  const worker = await workerOf({
    taskQueue,
    dataConverter: {
      payloadCodecs: [
        {
          encode: async (payloads) => payloads,
          decode: async (payloads) => gate.then(() => payloads),
        },
      ],
    },
  });
  const reasons: string[] = [];
  const where = { connection: env.nativeConnection, namespace: env.namespace };
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
  await working({ activationLooks: 10, pollLooks: 30 }, async (taskQueue, reasons) => {
    for (; Date.now() - began < 4_000; await delay(200))
      expect(await (await started(taskQueue)).result()).toBe("said");
    expect(reasons).toEqual([]);
    const where = { connection: env.nativeConnection, namespace: env.namespace };
    expect(await pollsAtAllPartitions(where, taskQueue)).not.toEqual([]);
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

/**
 * What the server says at a look: when this worker polled last at the root partition, how old the backlog is, and when it polled last at
 * another partition; "error" where it does not answer.
 */
type Answer =
  | [polledAtSecond: number | undefined, backlogSeconds: number, elsewhereAtSecond?: number]
  | "error"
  | "never";

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

/** The problems that are found while the server gives these answers, one at each look. */
async function foundWith(answers: Answer[], oldestActivations: (object | undefined)[] = []) {
  const seconds = (second: number) => ({ seconds: second, nanos: 0 });
  const found: string[] = [];
  let asked = 0;
  let looks = 0;
  const notSeen: string[] = [];
  const pollersOf = (...own: (number | undefined)[]) => [
    ...own.flatMap((at) =>
      at === undefined ? [] : [{ identity: "own", lastAccessTime: seconds(at) }],
    ),
    { identity: "other", lastAccessTime: seconds(100 + asked) },
  ];
  const describeTaskQueue = async ({ apiMode }: { apiMode?: number }) => {
    const answer = answers[apiMode === undefined ? asked++ : asked - 1] as Answer;
    if (answer === "never") return new Promise(() => undefined);
    if (answer === "error") throw new Error("the server is away");
    const [at, backlog, elsewhere] = answer;
    if (apiMode !== undefined)
      return { versionsInfo: { "": { typesInfo: { 1: { pollers: pollersOf(at, elsewhere) } } } } };
    return { pollers: pollersOf(at), stats: { approximateBacklogAge: seconds(backlog) } };
  };
  const worker = {
    get oldestActivation() {
      return oldestActivations[looks];
    },
    getState: () => "RUNNING" as const,
    options: { taskQueue: "queue", identity: "own" } as WorkflowWorker["options"],
  };
  const connection = { workflowService: { describeTaskQueue } } as never;
  const given = { connection, namespace: "default", everyMs: 1_000 };
  vi.useFakeTimers();
  try {
    const few = { activationLooks: 3, pollLooks: 3, unseenLooks: 3, backlogMs: 60_000 };
    const watch = watchWorker(worker, { ...given, ...few }, (problem) => found.push(problem));
    for (; looks < Math.max(answers.length, oldestActivations.length); looks += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      notSeen.push(watch.notSeen() ?? "");
    }
    watch.close();
  } finally {
    vi.useRealTimers();
  }
  return { found, asked, notSeen };
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

const for3 = "Temporal has noted no new poll of this worker in 3 looks.";

test.each<[string, Answer[], string[]]>([
  ["after three looks at an old poll", times<Answer>(4, [1, 0]), ["", "", "", for3]],
  ["after three looks without any poll", times<Answer>(3, [undefined, 0]), ["", "", for3]],
  [
    "never while it polls at other partitions",
    [1, 2, 3, 4].map((at) => [undefined, 0, at]),
    ["", "", "", ""],
  ],
  ["until it polls again", [...times<Answer>(4, [1, 0]), [5, 0]], ["", "", "", for3, ""]],
])(
  "where no task waits, a worker without polls is found not ready %s",
  async (_, answers, said) => {
    expect(await foundWith(answers)).toMatchObject({ found: [], notSeen: said });
  },
);

test("a look that gets no answer is the only one, and activations are watched on", async () => {
  const one = {};
  const met = await foundWith(times<Answer>(6, "never"), times(6, one));
  expect(met).toMatchObject({ found: [problems.activation], asked: 1 });
});

test("activations that are each seen twice are let alone", async () => {
  const activations = [{}, {}, {}, {}].flatMap((one) => [one, one]);
  const answers = activations.map((): Answer => [1, 0]);
  expect((await foundWith(answers, activations)).found).toEqual([]);
});

test("a worker that has ended for the server alone is noticed", async () => {
  const taskQueue = randomUUID();
  const identity = "gone";
  const idle = {
    oldestActivation: undefined,
    getState: () => "RUNNING" as const,
    options: { taskQueue, identity } as WorkflowWorker["options"],
  };
  const reasons: string[] = [];
  const where = { connection: env.nativeConnection, namespace: env.namespace };
  const settings = { ...where, ...limits, pollLooks: 10, backlogMs: 1_000 };
  const looks = vi.spyOn(env.nativeConnection.workflowService, "describeTaskQueue");
  const watch = watchWorker(idle, settings, (reason) => reasons.push(reason));
  const gone = await workerOf({ taskQueue, identity });
  await gone.runUntil(() =>
    eventually("the watch has seen a poll", async () => {
      const answers = await Promise.all(looks.mock.results.map(({ value }) => value));
      return answers.some(({ pollers }) => pollers.length > 0);
    }),
  );
  await started(taskQueue);
  await eventually("a reason not to be ready", () => watch.notSeen());
  await eventually("a problem", async () => reasons.length > 0);
  watch.close();
  looks.mockRestore();
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

test("a worker at work keeps an answer back until its polls have ended", async () => {
  const { value: sdkStop } = Object.getOwnPropertyDescriptor(Worker.prototype, "shutdown") ?? {};
  const inProgress: (object | undefined)[] = [];
  const stops = vi.spyOn(Worker.prototype, "shutdown").mockImplementation(function (this: Worker) {
    inProgress.push((this as WorkflowWorker).oldestActivation);
    sdkStop.call(this);
  });
  const taskQueue = randomUUID();
  // Longer than the workers of activities are waited for.
  const decode = async (payloads: Payload[]) => delay(700, payloads);
  const worker = await workerOf({
    taskQueue,
    dataConverter: { payloadCodecs: [{ encode: async (payloads) => payloads, decode }] },
  });
  const run = worker.run();
  const handle = await started(taskQueue);
  await eventually("an activation", () => worker.oldestActivation);
  worker.shutdown();
  expect(worker.getState()).toBe("RUNNING");
  await run;
  stops.mockRestore();
  expect(inProgress).toEqual([expect.any(Object)]);
  expect(await handle.result()).toBe("said");
}, 60_000);

test("an idle worker stops at once", async () => {
  const worker = await workerOf({ taskQueue: randomUUID() });
  const run = worker.run();
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
  worker.shutdown();
  clock.mockRestore();
  expect(worker.getState()).not.toBe("RUNNING");
  await run;
}, 60_000);
