// One activity of the simulated Temporal: its attempts, their time limits, and the pauses between them.
import { randomUUID } from "node:crypto";
import type { coresdk as core, temporal } from "@temporalio/proto";
import { after } from "./after.js";
import type { Timer } from "./after.js";
import { EventType, api, msOf, timeOf } from "./history.js";
import type { Failure, HistoryEvent, Payload } from "./history.js";

const enums = api.api.enums.v1;
const { RetryState, TimeoutType } = enums;

/** The run that an activity belongs to. */
interface Owner {
  readonly id: string;
  readonly runId: string;
  readonly type: string;
  readonly server: { readonly namespace: string; offerActivity(activity: Activity): void };
  activityEnded(
    activity: Activity,
    eventType: number,
    attributesOf: (ids: EventIds) => Partial<HistoryEvent>,
  ): void;
}

export interface EventIds {
  scheduledEventId: never;
  startedEventId: never;
}

type Attributes = temporal.api.history.v1.IActivityTaskScheduledEventAttributes;

export class Activity {
  readonly scheduledAt = Date.now();
  attempt = 1;
  attemptScheduledAt = Date.now();
  /** The identity of the worker that has the attempt, or had the last one. */
  startedBy: string | undefined;
  lastFailure: Failure | undefined;
  cancelRequestedId: number | undefined;
  heartbeat: Payload[] = [];
  token = randomUUID() as string;
  isRunning = false;
  isEnded = false;
  #attemptTimers: Timer[] = [];
  #whole: Timer | undefined;

  readonly run: Owner;
  readonly scheduledEventId: number;
  readonly seq: number;
  readonly attributes: Attributes;

  constructor(run: Owner, scheduledEventId: number, seq: number, attributes: Attributes) {
    this.run = run;
    this.scheduledEventId = scheduledEventId;
    this.seq = seq;
    this.attributes = attributes;
    const whole = msOf(attributes.scheduleToCloseTimeout);
    if (whole !== undefined) this.#whole = after(whole, () => this.#timeOut());
  }

  get taskQueue(): string {
    return this.attributes.taskQueue!.name!;
  }

  end(): void {
    this.isEnded = true;
    this.isRunning = false;
    this.#whole?.clear();
    this.#clear();
  }

  #clear(): void {
    for (const timer of this.#attemptTimers.splice(0)) timer.clear();
  }

  /** A worker takes the attempt. */
  start(identity: string): core.activity_task.IActivityTask {
    const { run, attributes, token } = this;
    this.isRunning = true;
    this.startedBy = identity;
    const limit = msOf(attributes.startToCloseTimeout);
    if (limit !== undefined)
      this.#attemptTimers.push(
        after(limit, () => this.#attemptOver(TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE, token)),
      );
    this.#watchHeartbeat();
    const { scheduleToCloseTimeout, startToCloseTimeout, heartbeatTimeout, retryPolicy } =
      attributes;
    return {
      taskToken: Buffer.from(token),
      start: {
        ...{ workflowNamespace: run.server.namespace, workflowType: run.type },
        workflowExecution: { workflowId: run.id, runId: run.runId },
        ...{ activityId: attributes.activityId!, activityType: attributes.activityType!.name! },
        ...{
          headerFields: attributes.header?.fields ?? {},
          input: attributes.input?.payloads ?? [],
          heartbeatDetails: this.heartbeat,
        },
        ...{
          scheduledTime: timeOf(this.scheduledAt),
          currentAttemptScheduledTime: timeOf(this.attemptScheduledAt),
          startedTime: timeOf(Date.now()),
        },
        attempt: this.attempt,
        ...{
          scheduleToCloseTimeout: scheduleToCloseTimeout!,
          startToCloseTimeout: startToCloseTimeout!,
        },
        ...{ heartbeatTimeout: heartbeatTimeout!, retryPolicy: retryPolicy! },
      },
    };
  }

  #watchHeartbeat(): void {
    const limit = msOf(this.attributes.heartbeatTimeout);
    const { token } = this;
    if (limit !== undefined)
      this.#attemptTimers.push(
        after(limit, () => this.#attemptOver(TimeoutType.TIMEOUT_TYPE_HEARTBEAT, token)),
      );
  }

  /** Answers whether the workflow wants the activity cancelled. */
  beat(details: Payload[]): boolean {
    this.heartbeat = details;
    const limit = this.#attemptTimers.splice(1);
    for (const timer of limit) timer.clear();
    this.#watchHeartbeat();
    return this.cancelRequestedId !== undefined;
  }

  #attemptOver(timeoutType: number, token: string): void {
    if (this.isEnded || this.token !== token) return;
    const name = timeoutType === TimeoutType.TIMEOUT_TYPE_HEARTBEAT ? "Heartbeat" : "StartToClose";
    const details = this.heartbeat;
    this.#retry(
      {
        message: `activity ${name} timeout`,
        source: "Server",
        timeoutFailureInfo: { timeoutType, lastHeartbeatDetails: { payloads: details } },
      },
      timeoutType,
    );
  }

  /** The time of a call that no worker has begun is over as that of its start, as on the real server. */
  #timeOut(): void {
    if (this.isEnded) return;
    const isBegun = this.isRunning || this.attempt > 1;
    const [name, timeoutType] = isBegun
      ? ["Close", TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE]
      : ["Start", TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START];
    const cause = this.lastFailure;
    const failure = {
      message: `activity ScheduleTo${name} timeout`,
      source: "Server",
      timeoutFailureInfo: { timeoutType },
      ...(cause && { cause }),
    };
    this.#endAs(failure, RetryState.RETRY_STATE_TIMEOUT, true);
  }

  #endAs(failure: Failure, retryState: number, isTimeout: boolean): void {
    this.run.activityEnded(
      this,
      isTimeout
        ? EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT
        : EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
      (ids) =>
        isTimeout
          ? { activityTaskTimedOutEventAttributes: { ...ids, failure, retryState } }
          : { activityTaskFailedEventAttributes: { ...ids, failure, retryState } },
    );
  }

  /** The worker's answer, with the details of the last heartbeat; false where the attempt is not its own any more. */
  complete(
    token: string,
    result: core.activity_result.IActivityExecutionResult,
    details = this.heartbeat,
  ): boolean {
    if (this.isEnded || this.token !== token) return false;
    this.heartbeat = details;
    const { completed, failed, cancelled } = result;
    if (completed)
      this.run.activityEnded(this, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, (ids) => ({
        activityTaskCompletedEventAttributes: {
          ...ids,
          result: { payloads: completed.result ? [completed.result] : [] },
        },
      }));
    else if (cancelled && this.cancelRequestedId !== undefined)
      this.run.activityEnded(this, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED, (ids) => ({
        activityTaskCanceledEventAttributes: {
          ...ids,
          latestCancelRequestedEventId: this.cancelRequestedId as never,
          details: cancelled.failure?.canceledFailureInfo?.details ?? {},
        },
      }));
    else
      this.#retry(failed?.failure ?? { message: "cancelled without a request", source: "Server" });
    return true;
  }

  #retry(failure: Failure, timeoutType?: number): void {
    const isTimeout = timeoutType !== undefined;
    const { applicationFailureInfo: info } = failure;
    const {
      initialInterval,
      backoffCoefficient,
      maximumInterval,
      maximumAttempts,
      nonRetryableErrorTypes,
    } = this.attributes.retryPolicy!;
    const isFinal = info?.nonRetryable || (nonRetryableErrorTypes ?? []).includes(info?.type ?? "");
    if (isFinal)
      return this.#endAs(failure, RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE, isTimeout);
    if ((maximumAttempts ?? 0) > 0 && this.attempt >= maximumAttempts!)
      return this.#endAs(failure, RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED, isTimeout);
    const exponential =
      (msOf(initialInterval) ?? 1_000) *
      (backoffCoefficient || 2) ** Math.min(60, this.attempt - 1);
    const pause =
      msOf(info?.nextRetryDelay) ?? Math.min(exponential, msOf(maximumInterval) ?? 100_000);
    const whole = msOf(this.attributes.scheduleToCloseTimeout);
    if (whole !== undefined && Date.now() + pause > this.scheduledAt + whole)
      return this.#endAs(failure, RetryState.RETRY_STATE_TIMEOUT, isTimeout);
    if (this.cancelRequestedId !== undefined)
      return this.#endAs(failure, RetryState.RETRY_STATE_CANCEL_REQUESTED, isTimeout);
    this.#clear();
    this.isRunning = false;
    this.lastFailure = failure;
    this.attempt += 1;
    this.token = randomUUID();
    this.attemptScheduledAt = Date.now() + pause;
    this.#attemptTimers.push(after(pause, () => this.run.server.offerActivity(this)));
  }
}
