// What a process waits for, as Temporal shows it, and when the waits end by the virtual clock.
import type { Connection } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { CLOCK_SIGNAL, FAR_MS } from "./far.js";
import type { TimeLine } from "./time-line.js";

export interface Execution {
  workflowId: string;
  runId: string;
}

export interface Waits {
  /** Something is under way, which no clock moves. */
  isBusy: boolean;
  timers: number[];
  retries: { activityId: string; due: number }[];
}

type Service = Connection["workflowService"];
type Event = NonNullable<
  NonNullable<
    NonNullable<Awaited<ReturnType<Service["getWorkflowExecutionHistory"]>>["history"]>["events"]
  >
>[number];

export class WaitsReader {
  readonly #service: Service;
  readonly #namespace: string;
  readonly #timeLine: TimeLine;
  /** The timers of a run, and the length of the history that shows them. */
  readonly #known = new Map<string, { length: number; timers: number[] }>();

  constructor(service: Service, namespace: string, timeLine: TimeLine) {
    this.#service = service;
    this.#namespace = namespace;
    this.#timeLine = timeLine;
  }

  async open(): Promise<Execution[]> {
    const { executions } = await this.#service.listWorkflowExecutions({
      namespace: this.#namespace,
      query: "ExecutionStatus = 'Running'",
      pageSize: 1_000,
    });
    return executions.map(({ execution }) => execution as Execution);
  }

  async of(execution: Execution): Promise<Waits> {
    const namespace = this.#namespace;
    const seen = await this.#service.describeWorkflowExecution({ namespace, execution });
    const { workflowExecutionInfo: info, pendingActivities = [] } = seen;
    const length = Number(info?.historyLength);
    const waiting = pendingActivities.filter(
      ({ currentRetryInterval: interval }) => interval && tsToMs(interval) >= FAR_MS,
    );
    console.error(
      JSON.stringify(
        pendingActivities.map(
          ({
            activityType,
            state,
            currentRetryInterval,
            nextAttemptScheduleTime,
            attempt,
            paused,
          }) => ({
            n: activityType?.name,
            state,
            currentRetryInterval,
            nextAttemptScheduleTime,
            attempt,
            paused,
          }),
        ),
      ),
    );
    return {
      isBusy: Boolean(seen.pendingWorkflowTask) || waiting.length < pendingActivities.length,
      timers: await this.#timersOf(execution, length),
      retries: waiting.map((activity) => ({
        activityId: activity.activityId ?? "",
        due:
          this.#timeLine.at(tsToMs(activity.lastAttemptCompleteTime)) +
          tsToMs(activity.currentRetryInterval) -
          FAR_MS,
      })),
    };
  }

  async wake(execution: Execution, { timers, retries }: Waits, now: number): Promise<void> {
    const namespace = this.#namespace;
    if (timers.some((due) => due <= now))
      await this.#service.signalWorkflowExecution({
        namespace,
        workflowExecution: execution,
        signalName: CLOCK_SIGNAL,
      });
    for (const { activityId: id, due } of retries) {
      if (due > now) continue;
      await this.#service.pauseActivity({ namespace, execution, id });
      await this.#service.unpauseActivity({ namespace, execution, id });
    }
  }

  async #timersOf(execution: Execution, length: number): Promise<number[]> {
    const known = this.#known.get(execution.runId);
    if (known?.length === length) return known.timers;
    const events: Event[] = [];
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = await this.#service.getWorkflowExecutionHistory({
        ...{ namespace: this.#namespace, execution },
        ...(nextPageToken && { nextPageToken }),
      });
      events.push(...(page.history?.events ?? []));
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    } while (nextPageToken);
    const timers = timersIn(events, (real) => this.#timeLine.at(real));
    this.#known.set(execution.runId, { length, timers });
    return timers;
  }
}

/** When the timers are due that a history has started and neither cancelled nor, by a signal of the clock, fired. */
function timersIn(events: Event[], at: (real: number) => number): number[] {
  const timers = new Map<string, number>();
  for (const event of events) {
    const { timerStartedEventAttributes: started, timerCanceledEventAttributes: cancelled } = event;
    const now = at(tsToMs(event.eventTime));
    if (started)
      timers.set(started.timerId ?? "", now + tsToMs(started.startToFireTimeout) - FAR_MS);
    if (cancelled) timers.delete(cancelled.timerId ?? "");
    if (event.workflowExecutionSignaledEventAttributes?.signalName === CLOCK_SIGNAL)
      for (const [id, due] of timers) if (due <= now) timers.delete(id);
  }
  return [...timers.values()];
}
