// Runs processes on the simulated Temporal, in virtual time, with the real workflow bundle. What their activities find is told by the
// test; how an attempt fails, and when it is made again, is decided by the real code of the activities.
import { vi } from "vitest";
import { activityInfo } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { asActivity } from "../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../src/activities/runtime/failure.js";
import {
  buildId,
  providerTaskQueue,
  workflowIdOf,
  workflowTaskQueue,
} from "../../src/contracts/shared/names.js";
import { openTemporalDoor } from "../simulation/doors/temporal.js";
import { TemporalServer } from "../simulation/temporal/server.js";

export const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1_000;
/** When the first process starts. */
export const START_MS = Date.UTC(2027, 0, 4);

/** What an activity finds at `nowMs`: it answers, or throws what the body of a real activity throws. */
export type FakeActivity = (given: any, nowMs: number) => unknown;

const queues = [
  "evi-post",
  "evi-notice",
  "evi-notice-batch",
  "disposable-certificate",
  "one-shot-signature",
  "video-identification",
].map((name) => providerTaskQueue(name));

/** What an activity of a process finds, by the process's id. */
const found = new Map<string, Record<string, FakeActivity>>();

export interface Ended {
  /** What the process has returned, or its failure. */
  result: any;
  days: number;
  events: number;
}

export type VirtualRuns = Awaited<ReturnType<typeof startVirtualRuns>>;

/** From now on time stands, except in `passing` and `pass`. */
export async function startVirtualRuns() {
  // Workflows run in this thread, or they would work while time passes.
  process.env["TEMPORAL_DEBUG"] = "1";
  const problems: string[] = [];
  const server = new TemporalServer({ namespace: "default", retentionDays: 500, random: () => 0 });
  openTemporalDoor({
    server: () => server,
    asServer: (work) => work(),
    latencyMs: () => 1,
    onNondeterminism: ({ id }, problem) => problems.push(`${id}: ${problem}`),
  });
  // Attempts that find nothing new would fill the screen.
  const logger = new DefaultLogger("ERROR", () => undefined);
  Runtime.install({ logger });
  const source = (file: string) =>
    fileURLToPath(new URL(`../../src/workflows/${file}`, import.meta.url));
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: source("index.ts"),
    workflowInterceptorModules: [source("runtime/status-memo.ts")],
    logger,
  });
  vi.useFakeTimers({
    now: START_MS,
    toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
  });
  const activities = { default: attempt };
  const { client, workers } = await passing(async () => {
    const [connection, ...made] = await Promise.all([
      Connection.connect(),
      Worker.create({ taskQueue: workflowTaskQueue, workflowBundle, buildId, activities }),
      ...queues.map((taskQueue) => Worker.create({ taskQueue, activities })),
    ]);
    return { client: new Client({ connection }), workers: made };
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    /** Starts the process; its id and its children's begin with `id`. */
    start(
      processName: string,
      id: string,
      finds: Record<string, FakeActivity>,
      input: object = {},
    ): Promise<WorkflowHandle> {
      found.set(id, finds);
      return client.workflow.start(processName, {
        workflowId: workflowIdOf(processName, id),
        taskQueue: workflowTaskQueue,
        args: [input],
      });
    },
    async pass(days: number): Promise<void> {
      for (const end = Date.now() + days * DAY_MS; Date.now() < end;) await step();
      if (problems.length > 0) throw new Error(problems.join("\n"));
    },
    async endOf(handle: WorkflowHandle): Promise<Ended> {
      const { startTime, closeTime, historyLength: events } = await handle.describe();
      if (!closeTime) return { result: "it has not ended", days: Infinity, events };
      const result = await handle.result().catch(({ cause }: Error) => cause);
      return { result, days: (closeTime.getTime() - startTime.getTime()) / DAY_MS, events };
    },
    async close(): Promise<void> {
      for (const worker of workers) worker.shutdown();
      await passing(() => running);
      isClosed = true;
    },
  };
}

/** Time passes until the work is done. */
export async function passing<T>(work: () => Promise<T>): Promise<T> {
  const done = work();
  let isDone = false;
  const end = () => void (isDone = true);
  for (done.then(end, end); !isDone;) await step();
  return done;
}

let isClosed = false;

/** Passes the time to the next timer, once nothing is left to do that waits for none. */
async function step(): Promise<void> {
  if (isClosed) throw new Error("time has ended");
  do await new Promise((resolve) => void setImmediate(resolve));
  while (process.getActiveResourcesInfo().includes("Immediate"));
  vi.advanceTimersToNextTimer();
}

function attempt(given: any): Promise<unknown> {
  const { activityType, workflowExecution } = activityInfo();
  const [, id = ""] = workflowExecution?.workflowId.split(/[/.]/) ?? [];
  const find = found.get(id)?.[activityType];
  const { mode = "quick" } = (given ?? {}) as { mode?: AttemptMode };
  const about = {
    ...{ provider: "trustflow", operation: activityType, environment: "sandbox" },
    ...{ account: "default", mode, patienceMs: 60_000, unavailableForMs: 3_600_000 },
    invisibleForMs: 900_000,
  };
  return asActivity(about, async () => {
    if (!find) throw new Error(`${id} calls ${activityType}`);
    return find(given, Date.now());
  });
}
