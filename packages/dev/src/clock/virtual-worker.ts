// Preloaded into the worker of a system with a virtual clock (`node --import`), and so into each thread that runs workflows: the time of
// workflows, their timers and the retries of activities are the clock's. A timer lasts ten years longer for Temporal than for
// its process; when the clock has come to its end, a signal tells the process, and the timer fires.
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
import type { ActivityInterceptorsFactory, WorkerOptions } from "@temporalio/worker";
import { msToTs, tsToMs } from "@temporalio/common/lib/time.js";
import { cliPath } from "../paths.js";
import { CLOCK_SIGNAL, FAR_LIMIT_MS, FAR_MS } from "./far.js";
import { failureByClock } from "./retry.js";
import { timeLine } from "./shift-date.js";

const require = createRequire(cliPath);
const { Worker } = require("@temporalio/worker") as typeof import("@temporalio/worker");
const { BaseVMWorkflow } =
  require("@temporalio/worker/lib/workflow/vm-shared.js") as typeof import("@temporalio/worker/lib/workflow/vm-shared.js");

type VirtualWorkflow = InstanceType<typeof BaseVMWorkflow>;
type Activation = Parameters<VirtualWorkflow["activate"]>[0];
type Completion = Awaited<ReturnType<VirtualWorkflow["activate"]>>;
type Command = NonNullable<NonNullable<Completion["successful"]>["commands"]>[number];

/** Of each run, when its timers are due, by their number. */
const timersOf = new WeakMap<object, Map<number, number>>();

const { activate } = BaseVMWorkflow.prototype;
BaseVMWorkflow.prototype.activate = async function (activation: Activation) {
  const timers = timersOf.get(this) ?? new Map<number, number>();
  timersOf.set(this, timers);
  if (!activation.timestamp) return activate.call(this, activation);
  const now = timeLine.at(tsToMs(activation.timestamp));
  activation.timestamp = msToTs(now);
  activation.jobs = (activation.jobs ?? []).flatMap((job) =>
    job.signalWorkflow?.signalName === CLOCK_SIGNAL ? fired(timers, now) : [job],
  );
  const completion = await activate.call(this, activation);
  for (const command of completion.successful?.commands ?? []) keepByClock(command, timers, now);
  return completion;
};

/** What is due, in the order of the times, and of one time in the order in which the timers were started. */
function fired(timers: Map<number, number>, now: number) {
  const due = [...timers].filter(([, at]) => at <= now).toSorted((a, b) => a[1] - b[1]);
  for (const [seq] of due) timers.delete(seq);
  return due.map(([seq]) => ({ fireTimer: { seq } }));
}

function keepByClock(
  { startTimer, cancelTimer, scheduleActivity }: Command,
  timers: Map<number, number>,
  now: number,
): void {
  if (startTimer) {
    const ms = tsToMs(startTimer.startToFireTimeout);
    timers.set(startTimer.seq ?? 0, now + ms);
    startTimer.startToFireTimeout = msToTs(FAR_MS + ms);
  }
  if (cancelTimer) timers.delete(cancelTimer.seq ?? 0);
  if (scheduleActivity?.scheduleToCloseTimeout)
    scheduleActivity.scheduleToCloseTimeout = msToTs(
      FAR_LIMIT_MS + tsToMs(scheduleActivity.scheduleToCloseTimeout),
    );
}

const { create } = Worker;
Worker.create = function (this: typeof Worker, options: WorkerOptions) {
  const { interceptors } = options;
  return create.call(this, {
    ...options,
    interceptors: { ...interceptors, activity: [byClock, ...(interceptors?.activity ?? [])] },
  });
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const byClock: ActivityInterceptorsFactory = (context) => {
  const info = context.info as Mutable<typeof context.info>;
  info.scheduledTimestampMs = timeLine.at(info.scheduledTimestampMs);
  info.currentAttemptScheduledTimestampMs = timeLine.at(info.currentAttemptScheduledTimestampMs);
  if (info.scheduleToCloseTimeoutMs > FAR_LIMIT_MS) info.scheduleToCloseTimeoutMs -= FAR_LIMIT_MS;
  const limit = info.scheduleToCloseTimeoutMs || Infinity;
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          const left = info.scheduledTimestampMs + limit - Date.now();
          throw failureByClock(error, info, left);
        }
      },
    },
  };
};

/** A look at another process says when that began, which Temporal knows by its own clock. */
async function translateLooks(): Promise<void> {
  const { ProcessLooksByClient } =
    await import("trustflow/internal/temporal/visibility/process-look.js");
  const { look } = ProcessLooksByClient.prototype;
  ProcessLooksByClient.prototype.look = async function (workflowId) {
    const found = await look.call(this, workflowId);
    if (found.run === "missing") return found;
    const startedAt = timeLine.at(Date.parse(found.startedAt));
    return { ...found, startedAt: new Date(startedAt).toISOString() };
  };
}

if (isMainThread) await translateLooks();
