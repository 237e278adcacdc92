// What the open processes wait for, as Temporal shows it, and the end of those waits that are due by the virtual clock.
import type { Client, WorkflowHandle } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { grpcOf, status } from "trustflow/internal/temporal/grpc-status.js";
import { isRunning } from "trustflow/internal/temporal/visibility/query.js";
import { CLOCK_SIGNAL, FAR_LIMIT_MS, FAR_MS, IDLE_MS } from "./far.js";
import type { TimeLine } from "./time-line.js";

type History = Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>;
type HistoryEvent = NonNullable<History["events"]>[number];
type Description = Awaited<ReturnType<Client["workflowService"]["describeWorkflowExecution"]>>;
type PendingActivity = Description["pendingActivities"][number];

export interface Waits {
  workflowId: string;
  /** A task or a call is under way, which does not end by a clock. */
  isBusy: boolean;
  historyLength: number;
  /** When they are due: milliseconds of the virtual clock. */
  timers: number[];
  retries: Retry[];
}

/** `due`: milliseconds of the virtual clock. */
export interface Retry {
  activityId: string;
  due: number;
  idle?: IdlePoll;
}

/** A poll that found nothing new: until something changes, the next ones find nothing either. */
export interface IdlePoll {
  intervalMs: number;
  /** When it was made: milliseconds of the real clock. */
  madeAt: number;
  /** Of the activity: milliseconds of the virtual clock. */
  limit: number;
}

/** What the history of a run has told so far. */
interface Told extends Ends {
  events: number;
}

/** When its timers are due and the time of its activities is over, by their ids: milliseconds of the virtual clock. */
interface Ends {
  timers: Map<string, number>;
  limits: Map<string, number>;
}

export class OpenProcesses {
  readonly #client: Client;
  readonly #timeLine: TimeLine;
  readonly #known = new Set<string>();
  /** By the run. */
  readonly #told = new Map<string, Told>();

  constructor(client: Client, timeLine: TimeLine) {
    this.#client = client;
    this.#timeLine = timeLine;
  }

  /** A process that was just started, and may not be in Temporal's list yet. */
  add(workflowId: string): void {
    this.#known.add(workflowId);
  }

  /** Adds those that others have started. */
  async find(): Promise<void> {
    for await (const { workflowId } of this.#client.workflow.list({ query: isRunning }))
      this.add(workflowId);
  }

  async waits(): Promise<Waits[]> {
    const found = new Map<string, Promise<Waits | undefined>>();
    const look = (workflowId: string): void => {
      if (found.has(workflowId)) return;
      const looked = this.#waitsOf(workflowId, look);
      // It is awaited after those before it, and must not count as unhandled until then.
      looked.catch(() => undefined);
      found.set(workflowId, looked);
    };
    for (const workflowId of this.#known) look(workflowId);
    const all: Waits[] = [];
    // A look at a parent adds its children.
    for (const looked of found.values()) {
      const waits = await looked;
      if (waits) all.push(waits);
    }
    return all.toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
  }

  /** Ends the waits that are due. One of them may end the others, or the process. */
  async wake(
    { workflowId, timers, retries }: Waits,
    now: number,
    dueOf: (retry: Retry) => number,
  ): Promise<void> {
    const { workflowService, options } = this.#client;
    const { namespace } = options;
    const execution = { workflowId };
    if (timers.some((due) => due <= now)) {
      const signal = { namespace, workflowExecution: execution, signalName: CLOCK_SIGNAL };
      await ifThere(workflowService.signalWorkflowExecution(signal));
    }
    for (const retry of retries) {
      if (dueOf(retry) > now) continue;
      const { activityId: id } = retry;
      // Temporal makes an activity at once that is no longer paused.
      await ifThere(workflowService.pauseActivity({ namespace, execution, id }));
      await ifThere(workflowService.unpauseActivity({ namespace, execution, id }));
    }
  }

  async #waitsOf(
    workflowId: string,
    look: (workflowId: string) => void,
  ): Promise<Waits | undefined> {
    const { namespace } = this.#client.options;
    const execution = { workflowId };
    // Without the status and other members that the client would decrypt.
    const raw = await ifThere(
      this.#client.workflowService.describeWorkflowExecution({ namespace, execution }),
    );
    const { workflowExecutionInfo: info, pendingWorkflowTask: task } = raw ?? {};
    // It is closed, or erased.
    if (!raw || info?.closeTime) {
      this.#known.delete(workflowId);
      return undefined;
    }
    const children = raw.pendingChildren ?? [];
    for (const { workflowId: child, runId } of children) {
      if (!child || !runId) continue;
      // A parent may end before it.
      this.add(child);
      look(child);
    }
    const activities = raw.pendingActivities ?? [];
    const waiting = activities.filter(
      ({ currentRetryInterval: interval }) => interval && tsToMs(interval) >= FAR_MS,
    );
    const historyLength = Number(info?.historyLength);
    const runId = info?.execution?.runId ?? "";
    const { timers, limits } = await this.#read({ workflowId, runId }, historyLength);
    return {
      ...{ workflowId, historyLength },
      isBusy:
        Boolean(task) || waiting.length < activities.length || children.some(({ runId }) => !runId),
      timers: [...timers.values()],
      retries: waiting.map((activity) => this.#retryOf(activity, limits)),
    };
  }

  #retryOf(
    { activityId, lastAttemptCompleteTime, currentRetryInterval }: PendingActivity,
    limits: Map<string, number>,
  ): Retry {
    const id = activityId ?? "";
    const madeAt = tsToMs(lastAttemptCompleteTime);
    const delayMs = tsToMs(currentRetryInterval);
    const isIdle = delayMs >= IDLE_MS;
    const intervalMs = delayMs - (isIdle ? IDLE_MS : FAR_MS);
    const due = this.#timeLine.at(madeAt) + intervalMs;
    const idle = { intervalMs, madeAt, limit: limits.get(id) ?? Infinity };
    return { activityId: id, due, ...(isIdle && { idle }) };
  }

  async #read(
    execution: { workflowId: string; runId: string },
    historyLength: number,
  ): Promise<Told> {
    const { runId } = execution;
    const told = this.#told.get(runId) ?? { events: 0, timers: new Map(), limits: new Map() };
    this.#told.set(runId, told);
    if (told.events < historyLength) {
      const events = await this.#eventsAfter(told.events, execution);
      // Unless another look was quicker.
      if (Number(events[0]?.eventId) === told.events + 1) {
        follow(told, events, (real) => this.#timeLine.at(real));
        told.events += events.length;
      }
    }
    return told;
  }

  /** Only those: a wait of months has hundreds. */
  async #eventsAfter(
    eventId: number,
    execution: { workflowId: string; runId: string },
  ): Promise<HistoryEvent[]> {
    const { workflowService, options } = this.#client;
    const backward: HistoryEvent[] = [];
    let nextPageToken: Uint8Array | null | undefined;
    do {
      const page = await workflowService.getWorkflowExecutionHistoryReverse({
        ...{ namespace: options.namespace, execution, maximumPageSize: eventId === 0 ? 1_000 : 20 },
        ...(nextPageToken && { nextPageToken }),
      });
      backward.push(...(page.history?.events ?? []));
      nextPageToken = page.nextPageToken;
    } while (nextPageToken?.length && Number(backward.at(-1)?.eventId) > eventId + 1);
    return backward.filter((event) => Number(event.eventId) > eventId).toReversed();
  }
}

async function ifThere<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (grpcOf(error).code !== status.notFound) throw error;
    return undefined;
  });
}

/** Keeps when the timers are due that the events have started, and neither cancelled nor, at a signal of the clock, fired. */
export function follow(
  { timers, limits }: Ends,
  events: HistoryEvent[],
  at: (real: number) => number,
): void {
  for (const event of events) {
    const { timerStartedEventAttributes: started, timerCanceledEventAttributes: cancelled } = event;
    const { workflowExecutionSignaledEventAttributes: signal } = event;
    const { activityTaskScheduledEventAttributes: activity } = event;
    const now = at(tsToMs(event.eventTime));
    if (started) {
      const ms = tsToMs(started.startToFireTimeout) - FAR_MS;
      if (ms < 0)
        throw new Error("a worker that has no virtual clock serves a process of the system");
      timers.set(started.timerId ?? "", now + ms);
    }
    if (cancelled) timers.delete(cancelled.timerId ?? "");
    if (signal?.signalName === CLOCK_SIGNAL)
      for (const [id, due] of timers) if (due <= now) timers.delete(id);
    const limitMs = tsToMs(activity?.scheduleToCloseTimeout ?? {}) - FAR_LIMIT_MS;
    if (limitMs > 0) limits.set(activity?.activityId ?? "", now + limitMs);
  }
}
