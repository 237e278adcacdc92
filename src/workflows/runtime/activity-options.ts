// The activities by their task queue, with time limits and retries (docs/design.md §6), one set for each phase of a step.
// oxlint-disable-next-line no-restricted-imports -- the one place
import { proxyActivities } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { Queue, Queues } from "../../activities/queues.js";
import type { LookActivities } from "../../activities/runtime/look.js";
import type { ProcessActivities } from "../../activities/runtime/process.js";
import { providerTaskQueue } from "../../contracts/shared/names.js";

/** A missing heartbeat shows a killed worker before the time limit of the attempt. */
const attempt: ActivityOptions = {
  startToCloseTimeout: "2 minutes",
  heartbeatTimeout: "12 seconds",
};

/** One attempt of a step that only fetches files, which take as long as they take. */
export const downloadAttempt = { startToCloseTimeout: "30 minutes" } as const;

/**
 * The activity fails to the workflow at once when waiting does not help, or when the provider was away for the configured time: the
 * activity decides that, as it alone knows the configuration. The day is for attempts that never get to decide anything.
 */
export const quickOptions: ActivityOptions = {
  ...attempt,
  scheduleToCloseTimeout: "1 day",
  retry: { initialInterval: "1 second", maximumInterval: "2 minutes" },
};

/**
 * The policy of a call that finds nothing new for long: it is repeated every `ms`, each time `growth` times as late, and adds nothing to
 * the history. The activity says that itself (`repeatMs` in activities/runtime/failure.ts). An attempt that is lost with its worker is
 * repeated after a second.
 */
export const repeatedEvery = (ms: number, growth = 1) => ({
  initialInterval: Math.min(1_000, ms),
  backoffCoefficient: growth,
  maximumInterval: ms,
});

/**
 * The server retries without end. Each failure carries its own delay, with jitter, so this interval only applies to an attempt that
 * was lost with its worker.
 */
export const patientOptions: ActivityOptions = {
  ...attempt,
  retry: { initialInterval: "30 seconds", backoffCoefficient: 1 },
};

/** They run on the provider's own task queue. */
export function providerProxy<Q extends Queue>(queue: Q, options: ActivityOptions): Queues[Q] {
  return proxyActivities<Queues[Q]>({
    taskQueue: providerTaskQueue(queue),
    ...options,
  }) as Queues[Q];
}

/** They run on the task queue of the workflows, because they ask no provider. */
export function ownProxy(options: ActivityOptions) {
  return proxyActivities<ProcessActivities & LookActivities>(options);
}

/** For an update's own call. If its worker is killed, there is time left to read a stored answer. */
const answerOptions = (seconds: number): ActivityOptions => ({
  ...limits(seconds),
  heartbeatTimeout: "6 seconds",
});

/** The activities of one provider for an update, which answers within 20 s, or within its own time. */
export function updateProxy<Q extends Queue>(queue: Q, summary: string, seconds = 15): Queues[Q] {
  return providerProxy(queue, { ...answerOptions(seconds), summary });
}

export function ownUpdateProxy(summary: string) {
  return ownProxy({ ...answerOptions(15), summary });
}

/** For an update's own question to the database, which sends no heartbeat: a short attempt shows a killed worker. */
export function databaseProxy(summary: string, attemptSeconds = 6, seconds = 15) {
  const startToCloseTimeout = `${attemptSeconds} seconds` as const;
  return ownProxy({ ...limits(seconds), startToCloseTimeout, summary });
}

function limits(seconds: number): ActivityOptions {
  const time = `${seconds} seconds` as const;
  return {
    startToCloseTimeout: time,
    scheduleToCloseTimeout: time,
    retry: { initialInterval: "1 second", maximumInterval: "2 seconds" },
  };
}
