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
 * The server retries without end. Each failure carries its own delay, with jitter, so this interval only applies to an attempt that
 * was lost with its worker.
 */
export const patientOptions: ActivityOptions = {
  ...attempt,
  retry: { initialInterval: "30 seconds", backoffCoefficient: 1 },
};

/** For an update's own call, which answers within 20 s. If its worker is killed, there is time left to read a stored answer. */
export const answerOptions: ActivityOptions = {
  startToCloseTimeout: "15 seconds",
  heartbeatTimeout: "6 seconds",
  scheduleToCloseTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "2 seconds" },
};

/** For an update's own question to the database, which sends no heartbeat: a short attempt shows a killed worker. */
export const recordOptions: ActivityOptions = {
  startToCloseTimeout: "6 seconds",
  scheduleToCloseTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "2 seconds" },
};

/** The call of an update that answers within a configured time. */
export function updateActivities<Q extends Queue>(queue: Q, summary: string, seconds: number) {
  const time = `${seconds} seconds` as const;
  return activitiesOf(queue, {
    ...answerOptions,
    startToCloseTimeout: time,
    scheduleToCloseTimeout: time,
    summary,
  });
}

/** The activities of one provider, on its own task queue. */
export function activitiesOf<Q extends Queue>(queue: Q, options: ActivityOptions): Queues[Q] {
  return proxyActivities<Queues[Q]>({
    taskQueue: providerTaskQueue(queue),
    ...options,
  }) as Queues[Q];
}

/** The activities on the task queue of the workflows: they ask no provider. */
export function ownActivities(options: ActivityOptions) {
  return proxyActivities<ProcessActivities & LookActivities>(options);
}
