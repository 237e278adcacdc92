// One workflow execution of the simulated Temporal: its history, and what is open in it. It writes the events that Temporal Server 1.32 writes;
// the SDK's core is the judge of that (see judge.ts).
import { randomUUID } from "node:crypto";
import type { coresdk as core, temporal } from "@temporalio/proto";
import { Activity } from "./activity.js";
import { after } from "./after.js";
import type { Timer } from "./after.js";
import { EventType, api, idOf, msOf, timeOf } from "./history.js";
import type { Failure, HistoryEvent, Payload } from "./history.js";

const enums = api.api.enums.v1;
const { WorkflowExecutionStatus: Status, WorkflowTaskFailedCause: Cause } = enums;
const { UpdateWorkflowExecutionLifecycleStage: Stage, ParentClosePolicy } = enums;
const { WorkflowIdReusePolicy: Reuse, IndexedValueType } = enums;

type Command = core.workflow_commands.IWorkflowCommand;
type Started = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;

/** A worker has so long for a workflow task. */
const TASK_MS = 10_000;
const MAX_RETRY_PAUSE_MS = 10_000;
const OF_CORE = {
  coreUsedFlags: [3, 2, 1],
  sdkName: "temporal-typescript",
  sdkVersion: "1.24.0",
};
/** Roughly; the server tells workers the size of a history. */
const EVENT_BYTES = 300;

export interface Update {
  id: string;
  protocolId: string;
  request: temporal.api.update.v1.IRequest;
  stage: number;
  acceptedEventId?: number;
  outcome?: temporal.api.update.v1.IOutcome;
}

export interface Query {
  id: string;
  query: temporal.api.query.v1.IWorkflowQuery;
  answer(response: { result?: Payload | undefined; failure?: Failure | undefined }): void;
}

/** What a worker is handed for one workflow task. */
export interface StartedTask {
  token: string;
  run: Run;
  events: HistoryEvent[];
  previousStartedEventId: number;
  updates: Update[];
  queries: Query[];
}

export interface Completion {
  commands: Command[];
  langUsedFlags: number[];
  answers: core.workflow_commands.IQueryResult[];
}

interface Task {
  token: string;
  isStarted: boolean;
  /** Made for an update alone; it leaves no event where the update is refused. */
  isSpeculative: boolean;
  /** The events before it. */
  after: number;
  /** The event of its schedule; undefined until it is completed where no event is written before. */
  scheduledEventId?: number;
  unwritten: HistoryEvent[];
  updates: Update[];
  queries: Query[];
  timer?: Timer;
}

interface Child {
  workflowId: string;
  type: string;
  runId?: string;
  startedEventId?: number;
}

/** What a run needs of the server around it. */
export interface Surroundings {
  namespace: string;
  namespaceId: string;
  /** The type of each by its name. */
  searchAttributes: Record<string, number>;
  offerTask(run: Run): void;
  offerActivity(activity: Activity): void;
  offerQuery(run: Run, query: Query): void;
  startChild(
    run: Run,
    initiatedId: number,
    command: core.workflow_commands.IStartChildWorkflowExecution,
  ): void;
  ended(run: Run): void;
  /** An event was written. */
  wrote(run: Run, event: HistoryEvent): void;
}

export interface Parent {
  run: Run;
  initiatedId: number;
}

export class Run {
  readonly events: HistoryEvent[] = [];
  readonly activities = new Map<number, Activity>();
  readonly updates = new Map<string, Update>();
  readonly startedAt = Date.now();
  readonly memo: Record<string, Payload> = {};
  readonly attributes: Record<string, Payload> = {};
  status: number = Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  closedAt: number | undefined;
  /** The worker that has the run in its cache, by its identity. */
  sticky: string | undefined;
  previousStartedEventId = 0;
  taskAttempt = 1;
  readonly #timers = new Map<string, { startedEventId: number; timer: Timer }>();
  readonly #children = new Map<number, Child>();
  #task: Task | undefined;
  /** Written once the started task is over. */
  #buffer: { about?: string; write(): void }[] = [];
  #queries: Query[] = [];
  #waiting: (() => void)[] = [];

  readonly server: Surroundings;
  readonly id: string;
  readonly runId: string;
  readonly started: Started;
  readonly parent: Parent | undefined;

  constructor(server: Surroundings, id: string, runId: string, started: Started, parent?: Parent) {
    this.server = server;
    this.id = id;
    this.runId = runId;
    this.started = started;
    this.parent = parent;
    Object.assign(this.memo, started.memo?.fields);
    Object.assign(this.attributes, started.searchAttributes?.indexedFields);
    this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, {
      workflowExecutionStartedEventAttributes: started,
    });
    this.schedule();
  }

  get type(): string {
    return this.started.workflowType!.name!;
  }

  get taskQueue(): string {
    return this.started.taskQueue!.name!;
  }

  get isOpen(): boolean {
    return this.status === Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  /** The state of the workflow task that is not over yet. */
  get task(): { isStarted: boolean } | undefined {
    return this.#task;
  }

  /** Resolves when something has changed, or after `ms`. */
  async change(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = after(ms, resolve);
      this.#waiting.push(() => {
        timer.clear();
        resolve();
      });
    });
  }

  #changed(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #append(eventType: number, attributes: Partial<HistoryEvent>): number {
    const eventId = this.events.length + 1;
    this.events.push(eventOf(eventId, eventType, attributes));
    this.server.wrote(this, this.events.at(-1)!);
    this.#changed();
    return eventId;
  }

  /** Something happened outside of a workflow task: it is written now, or once the started task is over. */
  #record(write: () => void, about?: string): void {
    if (!this.isOpen) return;
    if (this.#task?.isStarted) {
      this.#buffer.push(about === undefined ? { write } : { about, write });
      return;
    }
    write();
    this.schedule();
  }

  // What comes from outside

  signal(attributes: temporal.api.history.v1.IWorkflowExecutionSignaledEventAttributes): void {
    this.#record(() =>
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, {
        workflowExecutionSignaledEventAttributes: attributes,
      }),
    );
  }

  requestCancel(
    attributes: temporal.api.history.v1.IWorkflowExecutionCancelRequestedEventAttributes,
  ): void {
    this.#record(() =>
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, {
        workflowExecutionCancelRequestedEventAttributes: attributes,
      }),
    );
  }

  terminate(attributes: temporal.api.history.v1.IWorkflowExecutionTerminatedEventAttributes): void {
    if (this.#task?.isStarted)
      this.#giveUpTask(Cause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND);
    this.#flush();
    this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, {
      workflowExecutionTerminatedEventAttributes: attributes,
    });
    this.#close(Status.WORKFLOW_EXECUTION_STATUS_TERMINATED);
  }

  update(request: temporal.api.update.v1.IRequest): Update {
    const id = request.meta!.updateId!;
    const known = this.updates.get(id);
    if (known) return known;
    const update: Update = {
      id,
      protocolId: id,
      request,
      stage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED,
    };
    this.updates.set(id, update);
    this.schedule(true);
    return update;
  }

  query(query: Query): void {
    if (this.#task) this.#queries.push(query);
    else this.server.offerQuery(this, query);
  }

  // The workflow task

  schedule(isSpeculative = false): void {
    if (this.#task || !this.isOpen) return;
    const task: Task = {
      token: randomUUID(),
      isStarted: false,
      isSpeculative,
      after: this.events.length,
      unwritten: [],
      updates: [],
      queries: [],
    };
    this.#task = task;
    if (this.taskAttempt === 1 && !isSpeculative)
      task.scheduledEventId = this.#append(
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        this.#scheduled(),
      );
    const pause =
      this.taskAttempt < 3 ? 0 : Math.min(MAX_RETRY_PAUSE_MS, 1_000 * 2 ** (this.taskAttempt - 3));
    if (pause === 0) this.server.offerTask(this);
    else task.timer = after(pause, () => this.server.offerTask(this));
  }

  /** The worker that had the run in its cache does not take the task. */
  leaveSticky(): void {
    this.sticky = undefined;
    const task = this.#task;
    if (!task || task.isStarted) return;
    if (task.scheduledEventId !== undefined) {
      this.#append(EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, {
        workflowTaskTimedOutEventAttributes: {
          scheduledEventId: task.scheduledEventId as never,
          timeoutType: enums.TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START,
        },
      });
      task.scheduledEventId = this.#append(
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        this.#scheduled(),
      );
    }
    this.server.offerTask(this);
  }

  #scheduled(): Partial<HistoryEvent> {
    return {
      workflowTaskScheduledEventAttributes: {
        taskQueue: { name: this.taskQueue, kind: enums.TaskQueueKind.TASK_QUEUE_KIND_NORMAL },
        startToCloseTimeout: timeOf(TASK_MS),
        attempt: this.taskAttempt,
      },
    };
  }

  /** A worker takes the task; undefined where there is none any more. */
  start(identity: string): StartedTask | undefined {
    const task = this.#task;
    if (!task || task.isStarted) return undefined;
    task.isStarted = true;
    task.isSpeculative &&= this.events.length === task.after;
    const startedOf = (scheduledEventId: number): Partial<HistoryEvent> => ({
      workflowTaskStartedEventAttributes: {
        scheduledEventId: scheduledEventId as never,
        identity,
        requestId: randomUUID(),
        historySizeBytes: (this.events.length * EVENT_BYTES) as never,
      },
    });
    if (task.scheduledEventId === undefined) {
      const next = this.events.length + 1;
      task.unwritten = [
        eventOf(next, EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, this.#scheduled()),
        eventOf(next + 1, EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED, startedOf(next)),
      ];
    } else
      this.#append(EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED, startedOf(task.scheduledEventId));
    task.updates = [...this.updates.values()].filter(
      ({ stage }) => stage === Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED,
    );
    task.queries = this.#queries.splice(0);
    task.timer = after(TASK_MS, () => this.#timeOut(task));
    const { token, updates, queries } = task;
    const { previousStartedEventId } = this;
    return {
      token,
      run: this,
      events: [...this.events, ...task.unwritten],
      previousStartedEventId,
      updates,
      queries,
    };
  }

  #timeOut(task: Task): void {
    if (this.#task !== task) return;
    this.sticky = undefined;
    if (task.unwritten.length === 0)
      this.#append(EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, {
        workflowTaskTimedOutEventAttributes: {
          ...this.#idsOf(task),
          timeoutType: enums.TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE,
        },
      });
    this.#over(task, true);
  }

  /** Those of a task that has started, whether its events are written yet or not. */
  #idsOf(task: Task): { scheduledEventId: never; startedEventId: never } {
    const started =
      task.unwritten.at(-1) ??
      this.events.findLast(
        ({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
      )!;
    const { scheduledEventId } = started.workflowTaskStartedEventAttributes!;
    return {
      scheduledEventId: scheduledEventId as never,
      startedEventId: started.eventId as never,
    };
  }

  /** The worker failed the task; false where the task is not its own any more. */
  failTask(token: string, cause: number, failure?: Failure | null): boolean {
    const task = this.#task;
    if (task?.token !== token) return false;
    this.#giveUpTask(cause, failure);
    this.#over(task, true);
    return true;
  }

  #giveUpTask(cause: number, failure?: Failure | null): void {
    const task = this.#task!;
    this.sticky = undefined;
    if (task.unwritten.length > 0) return;
    this.#append(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED, {
      workflowTaskFailedEventAttributes: {
        ...this.#idsOf(task),
        cause,
        ...(failure && { failure }),
      },
    });
  }

  #over(task: Task, isFailed: boolean): void {
    task.timer?.clear();
    this.#task = undefined;
    this.#queries.unshift(...task.queries);
    this.taskAttempt = isFailed ? this.taskAttempt + 1 : 1;
    const hasNew = this.#flush();
    if (isFailed || hasNew) this.schedule();
    const isAsked = [...this.updates.values()].some(
      ({ stage }) => stage === Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED,
    );
    if (isAsked) this.schedule(true);
    if (!this.#task)
      for (const query of this.#queries.splice(0)) this.server.offerQuery(this, query);
  }

  #flush(): boolean {
    const buffered = this.#buffer.splice(0);
    for (const { write } of buffered) write();
    return buffered.length > 0;
  }

  /** The worker completed the task. Answers the events that its commands became; undefined where the task is not its own any more. */
  completeTask(
    token: string,
    identity: string,
    { commands, langUsedFlags, answers }: Completion,
  ): "lost" | "unhandled" | HistoryEvent[] {
    const task = this.#task;
    if (task?.token !== token) return "lost";
    const ends = commands.some(
      ({ completeWorkflowExecution, failWorkflowExecution, cancelWorkflowExecution }) =>
        completeWorkflowExecution || failWorkflowExecution || cancelWorkflowExecution,
    );
    if (ends && this.#buffer.length > 0) {
      this.#giveUpTask(Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND);
      this.#over(task, true);
      return "unhandled";
    }
    this.#answer(task, answers);
    const isRefusalAlone =
      task.isSpeculative &&
      commands.length > 0 &&
      commands.every(({ updateResponse }) => updateResponse?.rejected);
    if (isRefusalAlone)
      for (const { updateResponse } of commands) this.#respond(updateResponse!, 0, 0);
    else this.#write(task, identity, commands, langUsedFlags);
    const written = this.events.slice(this.previousStartedEventId);
    this.sticky = identity;
    if (this.isOpen) this.#over(task, false);
    return isRefusalAlone ? [] : written;
  }

  #answer(task: Task, answers: core.workflow_commands.IQueryResult[]): void {
    for (const { queryId, succeeded, failed } of answers) {
      const query = task.queries.find(({ id }) => id === queryId);
      task.queries = task.queries.filter((other) => other !== query);
      query?.answer(failed ? { failure: failed } : { result: succeeded?.response ?? undefined });
    }
  }

  #write(task: Task, identity: string, commands: Command[], langUsedFlags: number[]): void {
    const ids = this.#idsOf(task);
    this.events.push(...task.unwritten);
    for (const event of task.unwritten) this.server.wrote(this, event);
    const isFirst = this.previousStartedEventId === 0;
    this.previousStartedEventId = Number(ids.startedEventId);
    const completedId = this.#append(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, {
      workflowTaskCompletedEventAttributes: {
        ...ids,
        identity,
        // The core tells what is new.
        sdkMetadata: { langUsedFlags, ...(isFirst && OF_CORE) },
      },
    });
    for (const command of commands) this.#apply(command, completedId, Number(ids.startedEventId));
  }

  #apply(command: Command, workflowTaskCompletedEventId: number, startedId: number): void {
    const completed = { workflowTaskCompletedEventId: workflowTaskCompletedEventId as never };
    const { userMetadata, eventGroupMarkers } = command;
    const metadata = {
      ...(userMetadata && { userMetadata }),
      ...(eventGroupMarkers?.length && { eventGroupMarkers }),
    };
    const {
      startTimer,
      cancelTimer,
      scheduleActivity,
      requestCancelActivity,
      startChildWorkflowExecution: child,
    } = command;
    if (startTimer) this.#startTimer(startTimer, completed, metadata);
    else if (cancelTimer) this.#cancelTimer(String(cancelTimer.seq), completed);
    else if (scheduleActivity) this.#scheduleActivity(scheduleActivity, completed, metadata);
    else if (requestCancelActivity) this.#cancelActivity(requestCancelActivity.seq!, completed);
    else if (child) this.#startChild(child, completed, metadata);
    else if (command.updateResponse)
      this.#respond(command.updateResponse, startedId - 1, startedId);
    else this.#applyToItself(command, completed);
  }

  #applyToItself(command: Command, completed: { workflowTaskCompletedEventId: never }): void {
    const {
      upsertWorkflowSearchAttributes: attributes,
      modifyWorkflowProperties: memo,
      setPatchMarker: patch,
    } = command;
    if (attributes) {
      const indexedFields = this.#typed(attributes.searchAttributes?.indexedFields ?? {});
      merge(this.attributes, indexedFields);
      this.#append(EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, {
        upsertWorkflowSearchAttributesEventAttributes: {
          ...completed,
          searchAttributes: { indexedFields },
        },
      });
    } else if (memo) {
      merge(this.memo, memo.upsertedMemo?.fields);
      this.#append(EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED, {
        workflowPropertiesModifiedEventAttributes: {
          ...completed,
          upsertedMemo: memo.upsertedMemo!,
        },
      });
    } else if (patch) throw new Error("the simulation does not know patches");
    else if (command.completeWorkflowExecution) {
      const { result } = command.completeWorkflowExecution;
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, {
        workflowExecutionCompletedEventAttributes: {
          ...completed,
          result: { payloads: result ? [result] : [] },
        },
      });
      this.#close(Status.WORKFLOW_EXECUTION_STATUS_COMPLETED);
    } else if (command.failWorkflowExecution) {
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, {
        workflowExecutionFailedEventAttributes: {
          ...completed,
          failure: command.failWorkflowExecution.failure!,
          retryState: enums.RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET,
        },
      });
      this.#close(Status.WORKFLOW_EXECUTION_STATUS_FAILED);
    } else if (command.cancelWorkflowExecution) {
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, {
        workflowExecutionCanceledEventAttributes: completed,
      });
      this.#close(Status.WORKFLOW_EXECUTION_STATUS_CANCELED);
    } else throw new Error(`the simulation does not know the command ${JSON.stringify(command)}`);
  }

  /** The server writes the type of each search attribute. */
  #typed(fields: Record<string, Payload>): Record<string, Payload> {
    const typed = Object.entries(fields).map(([name, { data, metadata }]) => {
      const type = IndexedValueType[this.server.searchAttributes[name] ?? 0]!;
      const word = type.slice("INDEXED_VALUE_TYPE_".length).toLowerCase();
      const camel = word.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, { data: data!, metadata: { ...metadata, type: Buffer.from(camel) } }];
    });
    return Object.fromEntries(typed) as Record<string, Payload>;
  }

  #startTimer(
    { seq, startToFireTimeout }: core.workflow_commands.IStartTimer,
    completed: object,
    metadata: object,
  ): void {
    const timerId = String(seq);
    const startedEventId = this.#append(EventType.EVENT_TYPE_TIMER_STARTED, {
      ...metadata,
      timerStartedEventAttributes: {
        ...completed,
        timerId,
        startToFireTimeout: startToFireTimeout!,
      },
    });
    const timer = after(msOf(startToFireTimeout) ?? 0, () => {
      this.#timers.delete(timerId);
      const timerFiredEventAttributes = { timerId, startedEventId: startedEventId as never };
      this.#record(
        () => this.#append(EventType.EVENT_TYPE_TIMER_FIRED, { timerFiredEventAttributes }),
        `timer ${timerId}`,
      );
    });
    this.#timers.set(timerId, { startedEventId, timer });
  }

  #cancelTimer(timerId: string, completed: object): void {
    const started = this.events.findLast(
      ({ timerStartedEventAttributes: of }) => of?.timerId === timerId,
    );
    this.#timers.get(timerId)?.timer.clear();
    this.#timers.delete(timerId);
    this.#buffer = this.#buffer.filter(({ about }) => about !== `timer ${timerId}`);
    this.#append(EventType.EVENT_TYPE_TIMER_CANCELED, {
      timerCanceledEventAttributes: {
        ...completed,
        timerId,
        startedEventId: idOf(started) as never,
      },
    });
  }

  #scheduleActivity(
    command: core.workflow_commands.IScheduleActivity,
    completed: object,
    metadata: object,
  ): void {
    const {
      activityId,
      activityType,
      taskQueue,
      headers,
      arguments: payloads,
      retryPolicy,
    } = command;
    const scheduledEventId = this.#append(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, {
      ...metadata,
      activityTaskScheduledEventAttributes: {
        ...completed,
        ...{ activityId: activityId!, activityType: { name: activityType! } },
        taskQueue: { name: taskQueue!, kind: enums.TaskQueueKind.TASK_QUEUE_KIND_NORMAL },
        ...{ header: { fields: headers ?? {} }, input: { payloads: payloads ?? [] } },
        ...limitsOf(command),
        retryPolicy: retryOf(retryPolicy),
      },
    });
    const { activityTaskScheduledEventAttributes: attributes } = this.events.at(-1)!;
    const activity = new Activity(this, scheduledEventId, command.seq!, attributes!);
    this.activities.set(scheduledEventId, activity);
    this.server.offerActivity(activity);
  }

  #cancelActivity(seq: number, completed: object): void {
    const activity = [...this.activities.values()].find((one) => one.seq === seq);
    const scheduledEventId = activity?.scheduledEventId ?? this.#scheduledIdOf(seq);
    const id = this.#append(EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED, {
      activityTaskCancelRequestedEventAttributes: {
        ...completed,
        scheduledEventId: scheduledEventId as never,
      },
    });
    if (!activity) return;
    activity.cancelRequestedId = id;
    if (activity.isRunning) return;
    this.#endActivity(activity, "ACTIVITY_ID_NOT_STARTED");
  }

  readonly #scheduledIds = new Map<number, number>();
  #scheduledIdOf(seq: number): number {
    return this.#scheduledIds.get(seq) ?? 0;
  }

  #endActivity(activity: Activity, details: string): void {
    activity.end();
    this.activities.delete(activity.scheduledEventId);
    this.#append(EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED, {
      activityTaskCanceledEventAttributes: {
        details: {
          payloads: [
            {
              metadata: { encoding: Buffer.from("json/plain") },
              data: Buffer.from(JSON.stringify(details)),
            },
          ],
        },
        latestCancelRequestedEventId: activity.cancelRequestedId as never,
        scheduledEventId: activity.scheduledEventId as never,
      },
    });
  }

  /** The activity has its end, which its last attempt tells. */
  activityEnded(
    activity: Activity,
    eventType: number,
    attributesOf: (ids: {
      scheduledEventId: never;
      startedEventId: never;
    }) => Partial<HistoryEvent>,
  ): void {
    const { scheduledEventId, seq } = activity;
    activity.end();
    this.activities.delete(scheduledEventId);
    this.#scheduledIds.set(seq, scheduledEventId);
    this.#record(() => {
      let startedEventId = 0;
      if (activity.startedBy !== undefined) {
        const { attempt, startedBy: identity, lastFailure } = activity;
        startedEventId = this.#append(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED, {
          activityTaskStartedEventAttributes: {
            scheduledEventId: scheduledEventId as never,
            identity,
            attempt,
            ...(lastFailure && { lastFailure }),
          },
        });
      }
      this.#append(
        eventType,
        attributesOf({
          scheduledEventId: scheduledEventId as never,
          startedEventId: startedEventId as never,
        }),
      );
    });
  }

  // Children

  #startChild(
    command: core.workflow_commands.IStartChildWorkflowExecution,
    completed: object,
    metadata: object,
  ): void {
    const {
      workflowId,
      workflowType,
      taskQueue,
      input,
      headers,
      memo,
      parentClosePolicy,
      workflowIdReusePolicy,
    } = command;
    const { namespace, namespaceId } = this.server;
    const initiatedId = this.#append(
      EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
      {
        ...metadata,
        startChildWorkflowExecutionInitiatedEventAttributes: {
          ...completed,
          ...{
            namespace,
            namespaceId,
            workflowId: workflowId!,
            workflowType: { name: workflowType! },
          },
          taskQueue: { name: taskQueue!, kind: enums.TaskQueueKind.TASK_QUEUE_KIND_NORMAL },
          ...{
            input: { payloads: input ?? [] },
            header: { fields: headers ?? {} },
            memo: { fields: memo ?? {} },
          },
          ...{
            parentClosePolicy: (parentClosePolicy ||
              ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE) as never,
            workflowIdReusePolicy:
              workflowIdReusePolicy || Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
          },
          workflowTaskTimeout: timeOf(TASK_MS),
          ...(command.searchAttributes && { searchAttributes: command.searchAttributes }),
        },
      },
    );
    this.#children.set(initiatedId, { workflowId: workflowId!, type: workflowType! });
    after(1, () => this.server.startChild(this, initiatedId, command));
  }

  childStarted(initiatedId: number, runId: string | undefined): void {
    const child = this.#children.get(initiatedId)!;
    const { namespace, namespaceId } = this.server;
    const common = {
      namespace,
      namespaceId,
      initiatedEventId: initiatedId as never,
      workflowType: { name: child.type },
    };
    if (runId !== undefined) child.runId = runId;
    else this.#children.delete(initiatedId);
    this.#record(() => {
      if (runId === undefined)
        this.#append(EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED, {
          startChildWorkflowExecutionFailedEventAttributes: {
            ...common,
            workflowId: child.workflowId,
            cause:
              enums.StartChildWorkflowExecutionFailedCause
                .START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS,
          },
        });
      else
        child.startedEventId = this.#append(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, {
          childWorkflowExecutionStartedEventAttributes: {
            ...common,
            workflowExecution: { workflowId: child.workflowId, runId },
            header: {},
          },
        });
    });
  }

  childEnded(initiatedId: number, run: Run): void {
    const child = this.#children.get(initiatedId);
    if (!child) return;
    this.#children.delete(initiatedId);
    const { namespace, namespaceId } = this.server;
    this.#record(() => {
      const common = {
        ...{
          namespace,
          namespaceId,
          initiatedEventId: initiatedId as never,
          startedEventId: child.startedEventId as never,
        },
        ...{
          workflowExecution: { workflowId: child.workflowId, runId: run.runId },
          workflowType: { name: child.type },
        },
      };
      const last = run.events.at(-1)!;
      const failed = last.workflowExecutionFailedEventAttributes;
      if (failed)
        this.#append(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED, {
          childWorkflowExecutionFailedEventAttributes: {
            ...common,
            failure: failed.failure!,
            retryState: failed.retryState!,
          },
        });
      else if (last.workflowExecutionCompletedEventAttributes)
        this.#append(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED, {
          childWorkflowExecutionCompletedEventAttributes: {
            ...common,
            result: last.workflowExecutionCompletedEventAttributes.result!,
          },
        });
      else if (last.workflowExecutionCanceledEventAttributes)
        this.#append(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED, {
          childWorkflowExecutionCanceledEventAttributes: common,
        });
      else
        this.#append(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED, {
          childWorkflowExecutionTerminatedEventAttributes: common,
        });
    });
  }

  // Updates

  #respond(
    { protocolInstanceId, accepted, rejected, completed }: core.workflow_commands.IUpdateResponse,
    sequencingId: number,
    startedId: number,
  ): void {
    const update = [...this.updates.values()].find(
      ({ protocolId }) => protocolId === protocolInstanceId,
    );
    if (!update) throw new Error(`no update ${protocolInstanceId}`);
    if (accepted && startedId > 0) {
      update.stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED;
      update.acceptedEventId = this.#append(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
        {
          workflowExecutionUpdateAcceptedEventAttributes: {
            ...{
              protocolInstanceId: update.protocolId,
              acceptedRequestMessageId: `${update.protocolId}/request`,
            },
            ...{
              acceptedRequestSequencingEventId: sequencingId as never,
              acceptedRequest: update.request,
            },
          },
        },
      );
      return;
    }
    update.stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
    if (rejected && update.acceptedEventId === undefined) {
      this.updates.delete(update.id);
      update.outcome = { failure: rejected };
    } else {
      update.outcome = rejected
        ? { failure: rejected }
        : { success: { payloads: completed ? [completed] : [] } };
      this.#append(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED, {
        workflowExecutionUpdateCompletedEventAttributes: {
          ...{
            meta: { updateId: update.id },
            acceptedEventId: update.acceptedEventId as never,
            outcome: update.outcome,
          },
        },
      });
    }
    this.#changed();
  }

  // The end

  #close(status: number): void {
    this.status = status;
    this.closedAt = Date.now();
    this.#task?.timer?.clear();
    const queries = [...(this.#task?.queries ?? []), ...this.#queries.splice(0)];
    this.#task = undefined;
    for (const { timer } of this.#timers.values()) timer.clear();
    this.#timers.clear();
    for (const activity of this.activities.values()) activity.end();
    this.activities.clear();
    this.#buffer = [];
    this.#changed();
    for (const query of queries) this.server.offerQuery(this, query);
    this.server.ended(this);
  }
}

function eventOf(
  eventId: number,
  eventType: number,
  attributes: Partial<HistoryEvent>,
): HistoryEvent {
  const eventTime = timeOf(Date.now());
  return { eventId: eventId as never, eventTime, eventType, version: 0 as never, ...attributes };
}

function limitsOf(command: core.workflow_commands.IScheduleActivity) {
  const {
    scheduleToCloseTimeout: whole,
    scheduleToStartTimeout,
    startToCloseTimeout,
    heartbeatTimeout,
  } = command;
  // 0 is no limit, as the server writes it.
  return {
    scheduleToCloseTimeout: whole ?? timeOf(0),
    scheduleToStartTimeout: scheduleToStartTimeout ?? whole ?? timeOf(0),
    startToCloseTimeout: startToCloseTimeout ?? whole ?? timeOf(0),
    heartbeatTimeout: heartbeatTimeout ?? timeOf(0),
  };
}

/** With the server's defaults. */
function retryOf(given: temporal.api.common.v1.IRetryPolicy | null | undefined) {
  const initialMs = msOf(given?.initialInterval) ?? 1_000;
  const defaults = {
    initialInterval: timeOf(initialMs),
    backoffCoefficient: 2,
    maximumInterval: timeOf(100 * initialMs),
  };
  return { ...defaults, ...withoutNulls(given) };
}

const withoutNulls = (value: object | null | undefined) =>
  Object.fromEntries(
    Object.entries(value ?? {}).filter(([, one]) => one !== null && one !== undefined && one !== 0),
  );

/** An empty payload takes the member away, as the server does. */
function merge(
  into: Record<string, Payload>,
  fields: Record<string, Payload> | null | undefined,
): void {
  for (const [name, payload] of Object.entries(fields ?? {})) {
    if (
      payload.metadata?.["encoding"] &&
      Buffer.from(payload.metadata["encoding"]).toString() === "binary/null"
    )
      delete into[name];
    else into[name] = payload;
  }
}
