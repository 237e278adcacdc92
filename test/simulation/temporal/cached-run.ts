// A run in the cache of a simulated core: what of its history the workflow has seen, and which command each event belongs to.
import type { coresdk as sdk } from "@temporalio/proto";
import { EventType, idOf, isOfCommand } from "./history.js";
import type { Failure, HistoryEvent } from "./history.js";
import type { Query, Update } from "./run.js";

type Command = sdk.workflow_commands.IWorkflowCommand;
type Job = sdk.workflow_activation.IWorkflowActivationJob;

const TRY_CANCEL = 0;
const WAIT_CANCELLED = 1;

/** The commands are not those of the history. */
export class Nondeterminism extends Error {}

/** What one workflow task tells the workflow. */
export interface Sequence {
  jobs: Job[];
  started: HistoryEvent;
  isReplay: boolean;
  /** The index of its WORKFLOW_TASK_STARTED. */
  end: number;
  /** Where it is not that of the task. */
  historyLength?: number;
}

interface Open {
  seq: number;
  command: Command;
}

export class CachedRun {
  /** Events before it were told. */
  next = 0;
  /** The last task that was completed. */
  startedEventId = 0;
  langFlags = new Set<number>();
  /** The commands of the task in progress. */
  commands: Command[] = [];
  /** A query has told it more than the tasks that were completed; its commands go with the next task. */
  isAhead = false;
  flagsAhead: number[] = [];
  readonly #timers = new Map<number, Open>();
  readonly #activities = new Map<number, Open>();
  readonly #children = new Map<number, Open>();
  /** What the server did at once, among the events of commands; told with the next task. */
  readonly #atOnce: HistoryEvent[] = [];
  /** Told to be cancelled before the server says so. */
  readonly #settled = new Set<string>();

  constructor(readonly_: { runId: string; workflowId: string }) {
    this.runId = readonly_.runId;
    this.workflowId = readonly_.workflowId;
  }

  readonly runId: string;
  readonly workflowId: string;

  /** The next task of a history; undefined where all was told. `updates`: those of the task that is in progress. */
  sequence(events: HistoryEvent[], updates: Update[]): Sequence | undefined {
    const end = this.#endOf(events);
    if (end === undefined) return undefined;
    const isReplay = end < events.length - 1;
    const jobs = [...this.#atOnce.splice(0), ...events.slice(this.next, end + 1)].flatMap((event) =>
      this.#jobOf(event, events[0]!),
    );
    if (isReplay) jobs.push(...acceptedAfter(events, end));
    else jobs.push(...updates.map((update) => updateJob(update, true)));
    return { jobs: inOrder(jobs), started: events[end]!, isReplay, end };
  }

  /** What has come since the last task, as a query tells it: in the time of that task. */
  ahead(events: HistoryEvent[], started: HistoryEvent): Sequence | undefined {
    const jobs = events.slice(this.next).flatMap((event) => this.#jobOf(event, events[0]!));
    if (jobs.length === 0) return undefined;
    const { length: historyLength } = events;
    return { jobs: inOrder(jobs), started, isReplay: false, end: historyLength - 1, historyLength };
  }

  /** As the core finds it: a task that failed is no end, and one that brought nothing and is followed by another at once is neither. */
  #endOf(events: HistoryEvent[]): number | undefined {
    for (let at = this.next; at < events.length; at += 1) {
      if (events[at]!.eventType !== EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED) continue;
      const following = events[at + 1]?.eventType;
      if (following === undefined) return at;
      if (following !== EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) continue;
      if (events[at + 2]?.eventType !== EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED) return at;
    }
    return undefined;
  }

  /** Takes in what the workflow answered to an activation. Answers what it has to be told at once, in the same task. */
  take(commands: Command[]): Job[] {
    const atOnce: Job[] = [];
    for (const command of commands) {
      if (this.#isEnding()) break;
      const { cancelTimer, requestCancelActivity, cancelChildWorkflowExecution: child } = command;
      if (cancelTimer) this.#cancelTimer(command, cancelTimer.seq!);
      else if (requestCancelActivity)
        atOnce.push(...this.#cancelActivity(command, requestCancelActivity.seq!));
      else if (child) atOnce.push(...this.#leaveChild(child.childWorkflowSeq!));
      else this.commands.push(command);
    }
    return atOnce;
  }

  #isEnding(): boolean {
    const last = this.commands.at(-1);
    return !!(
      last?.completeWorkflowExecution ??
      last?.failWorkflowExecution ??
      last?.cancelWorkflowExecution
    );
  }

  #cancelTimer(command: Command, seq: number): void {
    const fresh = this.commands.findIndex(({ startTimer }) => startTimer?.seq === seq);
    if (fresh === -1) this.commands.push(command);
    else this.commands.splice(fresh, 1);
  }

  #cancelActivity(command: Command, seq: number): Job[] {
    const fresh = this.commands.findIndex(({ scheduleActivity }) => scheduleActivity?.seq === seq);
    const schedule =
      fresh === -1
        ? [...this.#activities.values()].find((one) => one.seq === seq)?.command
        : this.commands[fresh];
    if (!schedule || this.#settled.has(`activity ${seq}`)) return [];
    if (fresh !== -1) this.commands.splice(fresh, 1);
    const type = schedule.scheduleActivity!.cancellationType ?? TRY_CANCEL;
    if (fresh === -1 && (type === TRY_CANCEL || type === WAIT_CANCELLED))
      this.commands.push(command);
    if (type === WAIT_CANCELLED && fresh === -1) return [];
    this.#settled.add(`activity ${seq}`);
    const { activityId, activityType } = schedule.scheduleActivity!;
    const info = { activityId: activityId!, activityType: { name: activityType! } };
    return [
      { resolveActivity: { seq, result: { cancelled: { failure: cancelledActivity(info) } } } },
    ];
  }

  /** Children are abandoned, never cancelled. */
  #leaveChild(seq: number): Job[] {
    const open = [...this.#children.values()].find((one) => one.seq === seq);
    if (!open || this.#settled.has(`child ${seq}`)) return [];
    this.#settled.add(`child ${seq}`);
    const { workflowId, workflowType } = open.command.startChildWorkflowExecution!;
    const failure: Failure = {
      message: "Child Workflow execution cancelled",
      childWorkflowExecutionFailureInfo: {
        workflowExecution: { workflowId: workflowId! },
        workflowType: { name: workflowType! },
      },
      cause: { message: "Child Workflow execution cancelled", canceledFailureInfo: {} },
    };
    return [{ resolveChildWorkflowExecution: { seq, result: { cancelled: { failure } } } }];
  }

  /** Binds the commands of the task to the events that they became, which follow its WORKFLOW_TASK_STARTED at `end`. */
  bind(events: HistoryEvent[], end: number): void {
    let at = end + 2;
    for (const command of this.commands.splice(0)) {
      if (command.updateResponse?.rejected && !isUpdateEnd(events[at])) continue;
      const event = events[at];
      if (!event || !isOfCommand(event) || !this.#belongs(command, event))
        throw new Nondeterminism(
          `the history has ${EventType[event?.eventType ?? 0]} (${at + 1}) where the workflow says ${JSON.stringify(command).slice(0, 200)}`,
        );
      at += 1;
      if (isAtOnce(events[at])) this.#atOnce.push(events[at++]!);
    }
    if (events[at] && isOfCommand(events[at]!))
      throw new Nondeterminism(
        `the history has ${EventType[events[at]!.eventType!]} (${at + 1}), which the workflow does not say`,
      );
    this.next = at;
    this.startedEventId = idOf(events[end]);
    this.isAhead = false;
  }

  #belongs(command: Command, event: HistoryEvent): boolean {
    const id = idOf(event);
    const {
      startTimer,
      cancelTimer,
      scheduleActivity,
      requestCancelActivity,
      startChildWorkflowExecution: child,
    } = command;
    if (startTimer) {
      this.#timers.set(id, { seq: startTimer.seq!, command });
      return event.timerStartedEventAttributes?.timerId === String(startTimer.seq);
    }
    if (cancelTimer) return event.timerCanceledEventAttributes?.timerId === String(cancelTimer.seq);
    if (scheduleActivity) {
      this.#activities.set(id, { seq: scheduleActivity.seq!, command });
      const { activityId, activityType } = event.activityTaskScheduledEventAttributes ?? {};
      return (
        activityId === scheduleActivity.activityId &&
        activityType?.name === scheduleActivity.activityType
      );
    }
    if (requestCancelActivity)
      return event.activityTaskCancelRequestedEventAttributes !== undefined;
    if (child) {
      this.#children.set(id, { seq: child.seq!, command });
      return (
        event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId === child.workflowId
      );
    }
    return kindsOf(command).some((kind) => event.eventType === kind);
  }

  #jobOf(event: HistoryEvent, first: HistoryEvent): Job[] {
    const { workflowExecutionSignaledEventAttributes: signal, timerFiredEventAttributes: timer } =
      event;
    if (event.workflowExecutionStartedEventAttributes) return [this.#initialize(first)];
    if (signal)
      return [
        {
          signalWorkflow: {
            ...{
              signalName: signal.signalName!,
              input: signal.input?.payloads ?? [],
              identity: signal.identity ?? "",
            },
            ...{ headers: signal.header?.fields ?? {}, originatingEventId: event.eventId! },
          },
        },
      ];
    if (event.workflowExecutionCancelRequestedEventAttributes) return [{ cancelWorkflow: {} }];
    if (timer) {
      const seq = this.#timers.get(Number(timer.startedEventId))?.seq;
      return seq === undefined ? [] : [{ fireTimer: { seq } }];
    }
    return this.#activityJob(event) ?? this.#childJob(event) ?? [];
  }

  #initialize(first: HistoryEvent): Job {
    const started = first.workflowExecutionStartedEventAttributes!;
    return {
      initializeWorkflow: {
        ...{
          workflowType: started.workflowType!.name!,
          workflowId: this.workflowId,
          arguments: started.input?.payloads ?? [],
        },
        ...{
          randomnessSeed: seedOf(this.runId) as never,
          headers: started.header?.fields ?? {},
          identity: started.identity ?? "",
        },
        ...{
          workflowTaskTimeout: started.workflowTaskTimeout!,
          firstExecutionRunId: started.firstExecutionRunId!,
          attempt: 1,
        },
        ...{
          memo: started.memo ?? {},
          startTime: first.eventTime!,
        },
        ...(started.rootWorkflowExecution && { rootWorkflow: started.rootWorkflowExecution }),
        ...(started.searchAttributes && { searchAttributes: started.searchAttributes }),
        ...(started.parentWorkflowExecution && {
          parentWorkflowInfo: {
            ...started.parentWorkflowExecution,
            namespace: started.parentWorkflowNamespace!,
          },
        }),
        originalExecutionRunId: started.originalExecutionRunId!,
      },
    };
  }

  #activityJob(event: HistoryEvent): Job[] | undefined {
    const {
      activityTaskCompletedEventAttributes: completed,
      activityTaskFailedEventAttributes: failed,
    } = event;
    const {
      activityTaskTimedOutEventAttributes: late,
      activityTaskCanceledEventAttributes: cancelled,
    } = event;
    const attributes = completed ?? failed ?? late ?? cancelled;
    if (!attributes) return undefined;
    const open = this.#activities.get(Number(attributes.scheduledEventId));
    if (!open) return [];
    this.#activities.delete(Number(attributes.scheduledEventId));
    const { seq } = open;
    if (this.#settled.has(`activity ${seq}`)) return [];
    const { activityId, activityType } = open.command.scheduleActivity!;
    const { scheduledEventId, startedEventId } = attributes;
    const info = {
      activityId: activityId!,
      activityType: { name: activityType! },
      scheduledEventId: scheduledEventId!,
      startedEventId: startedEventId!,
    };
    if (completed) {
      const [result] = completed.result?.payloads ?? [];
      return [{ resolveActivity: { seq, result: { completed: result ? { result } : {} } } }];
    }
    if (cancelled)
      return [
        { resolveActivity: { seq, result: { cancelled: { failure: cancelledActivity(info) } } } },
      ];
    const { failure: cause, retryState } = (failed ?? late)!;
    const failure: Failure = {
      message: failed ? "Activity task failed" : "Activity task timed out",
      cause: cause!,
      activityFailureInfo: { ...info, retryState: retryState! },
    };
    return [{ resolveActivity: { seq, result: { failed: { failure } } } }];
  }

  #childJob(event: HistoryEvent): Job[] | undefined {
    const {
      startChildWorkflowExecutionFailedEventAttributes: refused,
      childWorkflowExecutionStartedEventAttributes: started,
    } = event;
    const {
      childWorkflowExecutionCompletedEventAttributes: completed,
      childWorkflowExecutionFailedEventAttributes: failed,
    } = event;
    const {
      childWorkflowExecutionTerminatedEventAttributes: terminated,
      childWorkflowExecutionCanceledEventAttributes: cancelled,
    } = event;
    const attributes = refused ?? started ?? completed ?? failed ?? terminated ?? cancelled;
    if (!attributes) return undefined;
    const open = this.#children.get(Number(attributes.initiatedEventId));
    if (!open) return [];
    const { seq } = open;
    if (this.#settled.has(`child ${seq}`)) return [];
    const { workflowId, workflowType } = open.command.startChildWorkflowExecution!;
    if (refused) {
      const cause = 1;
      return [
        {
          resolveChildWorkflowExecutionStart: {
            seq,
            failed: { workflowId: workflowId!, workflowType: workflowType!, cause },
          },
        },
      ];
    }
    if (started)
      return [
        {
          resolveChildWorkflowExecutionStart: {
            seq,
            succeeded: { runId: started.workflowExecution!.runId! },
          },
        },
      ];
    if (completed) {
      const [result] = completed.result?.payloads ?? [];
      return [
        { resolveChildWorkflowExecution: { seq, result: { completed: result ? { result } : {} } } },
      ];
    }
    const { namespace, workflowExecution, initiatedEventId, startedEventId } = (failed ??
      terminated ??
      cancelled)!;
    const info = {
      childWorkflowExecutionFailureInfo: {
        ...{
          namespace: namespace!,
          workflowExecution: workflowExecution!,
          workflowType: { name: workflowType! },
        },
        ...{ initiatedEventId: initiatedEventId!, startedEventId: startedEventId! },
        retryState: failed?.retryState ?? 0,
      },
    };
    if (cancelled) {
      const cause = { message: "Child Workflow execution cancelled", canceledFailureInfo: {} };
      const failure = { message: "Child Workflow execution cancelled", ...info, cause };
      return [{ resolveChildWorkflowExecution: { seq, result: { cancelled: { failure } } } }];
    }
    const cause = failed?.failure ?? {
      message: "Child Workflow execution terminated",
      terminatedFailureInfo: {},
    };
    const failure = {
      message: failed ? "Child Workflow execution failed" : "Child Workflow execution terminated",
      ...info,
      cause,
    };
    return [{ resolveChildWorkflowExecution: { seq, result: { failed: { failure } } } }];
  }
}

/** An activity that no worker had is cancelled at once. */
const isAtOnce = (event: HistoryEvent | undefined) =>
  event?.eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED;

const isUpdateEnd = (event: HistoryEvent | undefined) =>
  event?.eventType === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED;

function kindsOf(command: Command): number[] {
  if (command.upsertWorkflowSearchAttributes)
    return [EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES];
  if (command.modifyWorkflowProperties) return [EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED];
  if (command.completeWorkflowExecution) return [EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED];
  if (command.failWorkflowExecution) return [EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED];
  if (command.cancelWorkflowExecution) return [EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED];
  if (command.updateResponse?.accepted)
    return [EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED];
  if (command.updateResponse) return [EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED];
  return [];
}

const cancelledActivity = (activityFailureInfo: object): Failure => ({
  message: "Activity cancelled",
  activityFailureInfo,
  cause: { message: "Activity cancelled", canceledFailureInfo: {} },
});

function acceptedAfter(events: HistoryEvent[], end: number): Job[] {
  const jobs: Job[] = [];
  for (
    let at = end + 2;
    at < events.length && (isOfCommand(events[at]!) || isAtOnce(events[at]));
    at += 1
  ) {
    const { workflowExecutionUpdateAcceptedEventAttributes: accepted } = events[at]!;
    if (accepted)
      jobs.push(
        updateJob(
          { protocolId: accepted.protocolInstanceId!, request: accepted.acceptedRequest! },
          false,
        ),
      );
  }
  return jobs;
}

function updateJob(
  { protocolId, request }: Pick<Update, "protocolId" | "request">,
  runValidator: boolean,
): Job {
  return {
    doUpdate: {
      ...{
        id: request.meta!.updateId!,
        protocolInstanceId: protocolId,
        name: request.input!.name!,
        input: request.input!.args?.payloads ?? [],
      },
      ...{
        headers: request.input!.header?.fields ?? {},
        meta: { identity: request.meta!.identity ?? "" },
        runValidator,
      },
    },
  };
}

export function queryJob({ id, query }: Query): Job {
  return {
    queryWorkflow: {
      queryId: id,
      queryType: query.queryType!,
      arguments: query.queryArgs?.payloads ?? [],
      headers: query.header?.fields ?? {},
    },
  };
}

/** Signals and updates come before all but the start. */
function inOrder(jobs: Job[]): Job[] {
  const rank = ({ initializeWorkflow, signalWorkflow, doUpdate }: Job) =>
    initializeWorkflow ? 0 : (signalWorkflow ?? doUpdate) ? 1 : 2;
  return jobs.toSorted((one, other) => rank(one) - rank(other));
}

function seedOf(runId: string): number {
  return Number.parseInt(runId.replaceAll("-", "").slice(0, 12), 16);
}
