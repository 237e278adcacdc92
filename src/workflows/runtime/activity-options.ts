// How long activities may take and who retries them (docs/design.md §6): one set for each phase of a step.
import { proxyActivities } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import { providerTaskQueue } from "../../contracts/shared/names.js";

/** A worker that was killed is noticed by its missing heartbeat, not only when the attempt's time is over. */
const attempt: ActivityOptions = {
  startToCloseTimeout: "2 minutes",
  heartbeatTimeout: "12 seconds",
};

/**
 * Fails to the workflow at once where waiting does not help, and where the provider is away for as long as is configured: the
 * activity says so, as it alone knows the configuration. The day is for attempts that never come to say anything.
 */
export const quickOptions: ActivityOptions = {
  ...attempt,
  scheduleToCloseTimeout: "1 day",
  retry: { initialInterval: "1 second", maximumInterval: "2 minutes" },
};

/**
 * Retried by the server without end; each failure carries its own delay, with jitter, so the interval is that of an attempt
 * that was lost with its worker.
 */
export const patientOptions: ActivityOptions = {
  ...attempt,
  retry: { initialInterval: "30 seconds", backoffCoefficient: 1 },
};

/** For the own call of an update, which answers within 20 s; where its worker was killed, in time to read a stored answer. */
export const answerOptions: ActivityOptions = {
  startToCloseTimeout: "15 seconds",
  heartbeatTimeout: "6 seconds",
  scheduleToCloseTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "2 seconds" },
};

/** The own call of an update that answers within a configured time. */
export function ownCall<A>(provider: string, summary: string, seconds: number) {
  const time = `${seconds} seconds` as const;
  return activitiesOf<A>(provider, {
    ...answerOptions,
    startToCloseTimeout: time,
    scheduleToCloseTimeout: time,
    summary,
  });
}

/** The activities of one provider, on its own task queue. */
export function activitiesOf<A>(provider: string, options: ActivityOptions) {
  return proxyActivities<A>({ taskQueue: providerTaskQueue(provider), ...options });
}
