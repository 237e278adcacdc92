// A small Temporal in memory: runs, the matching of tasks with workers, and the answers to the calls that clients and workers make.
import { randomUUID } from "node:crypto";
import type { coresdk as core, temporal } from "@temporalio/proto";
import type { Activity } from "./activity.js";
import { after } from "./after.js";
import { api, timeOf } from "./history.js";
import type { Failure, HistoryEvent, Payload } from "./history.js";
import { Run } from "./run.js";
import type { Parent, Query, StartedTask, Surroundings, Update } from "./run.js";
import { matches } from "./visibility.js";

const enums = api.api.enums.v1;
const { WorkflowExecutionStatus: Status, UpdateWorkflowExecutionLifecycleStage: Stage } = enums;
const { WorkflowIdReusePolicy: Reuse, WorkflowIdConflictPolicy: Conflict } = enums;

type Requests = {
  [
    M in keyof Service as Service[M] extends (request: any) => unknown ? M : never
  ]: Service[M] extends (request: infer R) => unknown ? R : never;
};
type Service = temporal.api.workflowservice.v1.WorkflowService;

const DAY_MS = 86_400_000;
/** A real server answers an open question every 20 s; here a longer wait costs fewer steps. */
const LONG_POLL_MS = 30 * 60_000;
/** The visibility shows a change a moment later. */
const VISIBLE_AFTER_MS = 50;
const QUERY_MS = 60_000;

export const grpc = {
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  INVALID_ARGUMENT: 3,
  UNAVAILABLE: 14,
  DEADLINE_EXCEEDED: 4,
  UNIMPLEMENTED: 12,
} as const;

/** What a call fails with, as a client sees it. */
export class CallError extends Error {
  readonly code: number;
  readonly details: string;
  /** The type and the message of the details in the metadata. */
  readonly more: { type: string; bytes: Uint8Array } | undefined;

  constructor(code: number, details: string, more?: { type: string; bytes: Uint8Array }) {
    super(`${code} ${details}`);
    this.code = code;
    this.details = details;
    this.more = more;
  }
}

/** A worker, as the server knows it by its polls. */
export interface Poller {
  identity: string;
  taskQueue: string;
  takesWorkflows: boolean;
  takesActivities: boolean;
  /** Whether it has a task, a query or an activity in hand. */
  readonly isAtWork: boolean;
  takeTask(task: StartedTask): void;
  takeQuery(run: Run, query: Query): void;
  takeActivity(task: core.activity_task.IActivityTask): void;
}

export interface ServerOptions {
  namespace: string;
  retentionDays: number;
  /** A number from 0 to below 1. */
  random(): number;
  onEvent?(run: Run, event: HistoryEvent): void;
}

export class TemporalServer implements Surroundings {
  readonly namespaceId = randomUUID();
  readonly runs = new Map<string, Run>();
  /** After retention or erasure; for checks alone. */
  readonly forgotten: Run[] = [];
  readonly #current = new Map<string, Run>();
  readonly #pollers = new Set<Poller>();
  /** They take nothing more, and end what they have. */
  readonly #leaving = new Set<Poller>();
  readonly #requests = new Map<string, string>();
  #tasks: Run[] = [];
  #activities: Activity[] = [];
  #queries: { run: Run; query: Query }[] = [];

  readonly options: ServerOptions;

  constructor(options: ServerOptions) {
    this.options = options;
  }

  get everyRun(): Run[] {
    return [...this.forgotten, ...this.runs.values()];
  }

  get namespace(): string {
    return this.options.namespace;
  }

  /** Whether a worker has something in hand. */
  get isAtWork(): boolean {
    for (const pollers of [this.#pollers, this.#leaving])
      for (const { isAtWork } of pollers) if (isAtWork) return true;
    return false;
  }

  // Workers

  poll(poller: Poller): void {
    this.#pollers.add(poller);
    const [tasks, activities, queries] = [this.#tasks, this.#activities, this.#queries];
    [this.#tasks, this.#activities, this.#queries] = [[], [], []];
    for (const run of tasks) this.offerTask(run);
    for (const activity of activities) this.offerActivity(activity);
    for (const { run, query } of queries) this.offerQuery(run, query);
  }

  /** `isPolite`: it said so, as a worker does that ends; else the server learns it by time alone. */
  leave(poller: Poller, isPolite: boolean): void {
    this.#pollers.delete(poller);
    if (isPolite) this.#leaving.add(poller);
    else this.#leaving.delete(poller);
    if (!isPolite || !poller.takesWorkflows) return;
    for (const run of this.runs.values()) if (run.sticky === poller.identity) run.leaveSticky();
  }

  #pollerOf(
    taskQueue: string,
    takes: "takesWorkflows" | "takesActivities",
    identity?: string,
  ): Poller | undefined {
    const all = [...this.#pollers].filter(
      (poller) => poller.taskQueue === taskQueue && poller[takes],
    );
    if (identity !== undefined) return all.find((poller) => poller.identity === identity);
    return all[Math.floor(this.options.random() * all.length)];
  }

  #soon(work: () => void): void {
    after(1 + Math.floor(this.options.random() * 5), work);
  }

  offerTask(run: Run): void {
    if (run.sticky !== undefined) {
      const { sticky } = run;
      const poller = this.#pollerOf(run.taskQueue, "takesWorkflows", sticky);
      if (!poller) {
        after(5_000, () => run.sticky === sticky && run.leaveSticky());
        return;
      }
      this.#soon(() => this.#giveTask(run, poller));
      return;
    }
    const poller = this.#pollerOf(run.taskQueue, "takesWorkflows");
    if (poller) this.#soon(() => this.#giveTask(run, poller));
    else this.#tasks.push(run);
  }

  #giveTask(run: Run, poller: Poller): void {
    if (!run.task || run.task.isStarted) return;
    // It has gone meanwhile, or the run has left its cache.
    const isThere = this.#pollers.has(poller);
    if (!isThere || (run.sticky !== undefined && run.sticky !== poller.identity))
      return this.offerTask(run);
    const task = run.start(poller.identity);
    if (task) poller.takeTask(task);
  }

  offerQuery(run: Run, query: Query): void {
    const sticky =
      run.sticky === undefined
        ? undefined
        : this.#pollerOf(run.taskQueue, "takesWorkflows", run.sticky);
    const poller = sticky ?? this.#pollerOf(run.taskQueue, "takesWorkflows");
    if (poller)
      this.#soon(() => (run.task && run.isOpen ? run.query(query) : poller.takeQuery(run, query)));
    else this.#queries.push({ run, query });
  }

  /** A query that has waited for a worker, as the Web UI asks: it is handed over whatever has come meanwhile. */
  askNow(run: Run): void {
    const poller = this.#pollerOf(run.taskQueue, "takesWorkflows");
    const query = { queryType: "__temporal_workflow_metadata" };
    poller?.takeQuery(run, { id: randomUUID(), query, answer: () => undefined });
  }

  offerActivity(activity: Activity): void {
    if (activity.isEnded) return;
    const poller = this.#pollerOf(activity.taskQueue, "takesActivities");
    if (!poller) {
      this.#activities.push(activity);
      return;
    }
    this.#soon(() => {
      if (activity.isEnded || activity.isRunning) return;
      if (!this.#pollers.has(poller)) return this.offerActivity(activity);
      poller.takeActivity(activity.start(poller.identity));
    });
  }

  activityOf(token: string): Activity | undefined {
    for (const run of this.runs.values())
      for (const activity of run.activities.values()) if (activity.token === token) return activity;
    return undefined;
  }

  // Runs

  startChild(
    parent: Run,
    initiatedId: number,
    command: core.workflow_commands.IStartChildWorkflowExecution,
  ): void {
    const id = command.workflowId!;
    const known = this.#current.get(id);
    if (known && (known.isOpen || !mayReuse(known, command.workflowIdReusePolicy)))
      return parent.childStarted(initiatedId, undefined);
    const root = { workflowId: parent.id, runId: parent.runId };
    const run = this.#begin(
      {
        ...{
          workflowId: id,
          workflowType: { name: command.workflowType! },
          taskQueue: {
            name: command.taskQueue!,
            kind: enums.TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
          },
        },
        ...{
          input: { payloads: command.input ?? [] },
          header: { fields: command.headers ?? {} },
          memo: { fields: command.memo ?? {} },
        },
        ...(command.searchAttributes && { searchAttributes: command.searchAttributes }),
        ...{
          parentWorkflowNamespace: this.namespace,
          parentWorkflowNamespaceId: this.namespaceId,
          parentWorkflowExecution: root,
        },
        ...{ parentInitiatedEventId: initiatedId as never, rootWorkflowExecution: root },
      },
      { run: parent, initiatedId },
    );
    parent.childStarted(initiatedId, run.runId);
  }

  #begin(
    started: temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes,
    parent?: Parent,
  ): Run {
    const runId = randomUUID();
    const run = new Run(
      this,
      started.workflowId!,
      runId,
      {
        ...started,
        ...{
          originalExecutionRunId: runId,
          firstExecutionRunId: runId,
          attempt: 1,
          workflowTaskTimeout: timeOf(10_000),
        },
      },
      parent,
    );
    this.runs.set(runId, run);
    this.#current.set(run.id, run);
    return run;
  }

  ended(run: Run): void {
    if (run.parent) this.#soon(() => run.parent!.run.childEnded(run.parent!.initiatedId, run));
    after(this.options.retentionDays * DAY_MS, () => this.#forget(run));
  }

  wrote(run: Run, event: HistoryEvent): void {
    this.options.onEvent?.(run, event);
  }

  #forget(run: Run): void {
    if (!this.runs.delete(run.runId)) return;
    this.forgotten.push(run);
    if (this.#current.get(run.id) === run) this.#current.delete(run.id);
  }

  /** The newest run that is kept. */
  latest(workflowId: string): Run | undefined {
    return this.#current.get(workflowId);
  }

  runOf(execution: temporal.api.common.v1.IWorkflowExecution | null | undefined): Run {
    const { workflowId, runId } = execution ?? {};
    const run = runId ? this.runs.get(runId) : this.latest(workflowId ?? "");
    if (run?.id !== workflowId)
      throw new CallError(grpc.NOT_FOUND, `workflow not found for ID: ${workflowId}`);
    return run!;
  }

  #openRunOf(execution: temporal.api.common.v1.IWorkflowExecution | null | undefined): Run {
    const run = this.runOf(execution);
    if (!run.isOpen) throw new CallError(grpc.NOT_FOUND, "workflow execution already completed");
    return run;
  }

  // Calls

  /** Answers a call by its name; what is not here is not needed by what runs. */
  async call(name: string, request: any): Promise<object> {
    const method = (
      this.#calls as unknown as Record<string, (request: any) => object | Promise<object>>
    )[name];
    if (!method) throw new CallError(grpc.UNIMPLEMENTED, `the simulation does not know ${name}`);
    return method(request);
  }

  readonly #calls = {
    GetSystemInfo: () => ({
      serverVersion: "1.32.1",
      capabilities: { signalAndQueryHeader: true, internalErrorDifferentiation: true },
    }),
    DescribeNamespace: () => ({
      namespaceInfo: { name: this.namespace, id: this.namespaceId, state: 1 },
      config: { workflowExecutionRetentionTtl: timeOf(this.options.retentionDays * DAY_MS) },
    }),
    ListSearchAttributes: () => ({ customAttributes: this.searchAttributes, systemAttributes: {} }),
    AddSearchAttributes: ({ searchAttributes }: { searchAttributes: Record<string, number> }) => {
      Object.assign(this.searchAttributes, searchAttributes);
      return {};
    },
    StartWorkflowExecution: (request: Requests["startWorkflowExecution"]) =>
      this.#startWorkflow(request),
    SignalWorkflowExecution: (request: Requests["signalWorkflowExecution"]) => {
      const run = this.#openRunOf(request.workflowExecution);
      const key = `${run.runId} ${request.requestId}`;
      if (this.#requests.has(key)) return {};
      this.#requests.set(key, "");
      const { signalName, input, identity, header } = request;
      run.signal({ signalName: signalName!, input: input!, identity: identity!, header: header! });
      return {};
    },
    RequestCancelWorkflowExecution: (request: Requests["requestCancelWorkflowExecution"]) => {
      this.#openRunOf(request.workflowExecution).requestCancel({ identity: request.identity! });
      return {};
    },
    TerminateWorkflowExecution: (request: Requests["terminateWorkflowExecution"]) => {
      this.#openRunOf(request.workflowExecution).terminate({
        reason: request.reason!,
        identity: request.identity!,
      });
      return {};
    },
    DeleteWorkflowExecution: (request: Requests["deleteWorkflowExecution"]) => {
      const run = this.runOf(request.workflowExecution);
      after(VISIBLE_AFTER_MS, () => {
        if (run.isOpen) run.terminate({ reason: "deleted" });
        this.#forget(run);
      });
      return {};
    },
    DescribeWorkflowExecution: (request: Requests["describeWorkflowExecution"]) => {
      const run = this.runOf(request.execution);
      const pendingActivities = [...run.activities.values()].map((activity) => ({
        ...{
          activityId: activity.attributes.activityId!,
          activityType: activity.attributes.activityType!,
        },
        ...{
          attempt: activity.attempt,
          heartbeatDetails: { payloads: activity.heartbeat },
          state: activity.isRunning ? 2 : 1,
        },
        ...(activity.lastFailure && { lastFailure: activity.lastFailure }),
      }));
      const pendingWorkflowTask = run.task
        ? { state: run.task.isStarted ? 2 : 1, attempt: run.taskAttempt }
        : undefined;
      return {
        workflowExecutionInfo: this.#infoOf(run),
        executionConfig: { taskQueue: { name: run.taskQueue } },
        pendingActivities,
        pendingWorkflowTask,
      };
    },
    ListWorkflowExecutions: (request: Requests["listWorkflowExecutions"]) => {
      const found = this.#found(request.query ?? "");
      const from = Number(Buffer.from(request.nextPageToken ?? []).toString() || 0);
      const size = request.pageSize || 1_000;
      const executions = found.slice(from, from + size).map((run) => this.#infoOf(run));
      return {
        executions,
        nextPageToken:
          from + size < found.length ? Buffer.from(String(from + size)) : Buffer.alloc(0),
      };
    },
    CountWorkflowExecutions: (request: Requests["countWorkflowExecutions"]) => ({
      count: this.#found(request.query ?? "").length,
    }),
    DescribeTaskQueue: ({ taskQueue }: Requests["describeTaskQueue"]) => ({
      pollers: [...this.#pollers]
        .filter((poller) => poller.taskQueue === taskQueue?.name)
        .map(({ identity }) => ({ identity, lastAccessTime: timeOf(Date.now()) })),
      stats: {},
    }),
    GetWorkflowExecutionHistory: (request: Requests["getWorkflowExecutionHistory"]) =>
      this.#history(request),
    QueryWorkflow: (request: Requests["queryWorkflow"]) => this.#query(request),
    UpdateWorkflowExecution: async (request: Requests["updateWorkflowExecution"]) => {
      const run = this.runOf(request.workflowExecution);
      const known = run.updates.get(request.request!.meta!.updateId!);
      const update = known ?? this.#openRunOf(request.workflowExecution).update(request.request!);
      return this.#updateAnswer(run, update, request.waitPolicy?.lifecycleStage ?? 0);
    },
    PollWorkflowExecutionUpdate: async (request: Requests["pollWorkflowExecutionUpdate"]) => {
      const run = this.runOf(request.updateRef?.workflowExecution);
      const update = run.updates.get(request.updateRef?.updateId ?? "");
      if (!update) throw new CallError(grpc.NOT_FOUND, "update not found");
      return this.#updateAnswer(run, update, request.waitPolicy?.lifecycleStage ?? 0);
    },
  };

  readonly searchAttributes: Record<string, number> = {};

  #startWorkflow(request: Requests["startWorkflowExecution"]) {
    const id = request.workflowId!;
    const known = this.#current.get(id);
    const asked = `start ${id} ${request.requestId}`;
    const before = this.#requests.get(asked);
    if (before !== undefined) return { runId: before, started: true };
    if (known) {
      if (
        known.isOpen &&
        request.workflowIdConflictPolicy === Conflict.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
      )
        return { runId: known.runId, started: false };
      if (known.isOpen || !mayReuse(known, request.workflowIdReusePolicy))
        throw alreadyStarted(known);
    }
    const {
      workflowType,
      taskQueue,
      input,
      identity,
      header,
      memo,
      searchAttributes,
      userMetadata,
    } = request;
    const run = this.#begin({
      ...{
        workflowId: id,
        workflowType: workflowType!,
        taskQueue: taskQueue!,
        input: input!,
        identity: identity!,
      },
      ...{ header: header ?? {}, memo: memo ?? {}, firstWorkflowTaskBackoff: timeOf(0) },
      ...(searchAttributes && { searchAttributes }),
    });
    if (userMetadata) run.events[0]!.userMetadata = userMetadata;
    this.#requests.set(asked, run.runId);
    return { runId: run.runId, started: true };
  }

  #infoOf(run: Run) {
    return {
      ...{
        execution: { workflowId: run.id, runId: run.runId },
        type: { name: run.type },
        status: run.status,
        taskQueue: run.taskQueue,
      },
      ...{
        startTime: timeOf(run.startedAt),
        executionTime: timeOf(run.startedAt),
        historyLength: run.events.length,
      },
      ...(run.closedAt !== undefined && { closeTime: timeOf(run.closedAt) }),
      ...{ memo: { fields: run.memo }, searchAttributes: { indexedFields: run.attributes } },
      ...(run.parent && {
        parentExecution: { workflowId: run.parent.run.id, runId: run.parent.run.runId },
      }),
      firstRunId: run.runId,
      rootExecution: run.started.rootWorkflowExecution ?? { workflowId: run.id, runId: run.runId },
    };
  }

  #found(query: string): Run[] {
    return [...this.runs.values()].filter((run) => matches(query, run)).toReversed();
  }

  async #history(request: Requests["getWorkflowExecutionHistory"]) {
    const run = this.runOf(request.execution);
    const isClose =
      request.historyEventFilterType ===
      enums.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;
    const end = Date.now() + LONG_POLL_MS;
    while (request.waitNewEvent && run.isOpen && Date.now() < end)
      await run.change(end - Date.now());
    if (!isClose) return { history: { events: run.events }, nextPageToken: Buffer.alloc(0) };
    if (run.isOpen) return { history: { events: [] }, nextPageToken: Buffer.from(run.runId) };
    return { history: { events: [run.events.at(-1)!] }, nextPageToken: Buffer.alloc(0) };
  }

  #query(request: Requests["queryWorkflow"]): Promise<object> {
    const run = this.runOf(request.execution);
    return new Promise((resolve, reject) => {
      const limit = after(QUERY_MS, () =>
        reject(new CallError(grpc.DEADLINE_EXCEEDED, "no worker answers")),
      );
      const answer = ({
        result,
        failure,
      }: {
        result?: Payload | undefined;
        failure?: Failure | undefined;
      }) => {
        limit.clear();
        if (failure)
          reject(new CallError(grpc.INVALID_ARGUMENT, failure.message ?? "", queryFailed(failure)));
        else resolve({ queryResult: { payloads: result ? [result] : [] } });
      };
      run.query({ id: randomUUID(), query: request.query!, answer });
    });
  }

  async #updateAnswer(run: Run, update: Update, wanted: number) {
    const end = Date.now() + LONG_POLL_MS;
    const least = Math.max(wanted, Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED);
    while (update.stage < least && run.isOpen && Date.now() < end)
      await run.change(end - Date.now());
    if (!run.isOpen && update.stage < Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED) {
      if (update.stage < Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED)
        throw new CallError(grpc.NOT_FOUND, "workflow execution already completed");
      const failure = {
        message:
          "Workflow Update failed because the Workflow completed before the Update completed.",
        source: "Server",
        applicationFailureInfo: { type: "AcceptedUpdateCompletedWorkflow", nonRetryable: true },
      };
      update.outcome ??= { failure };
    }
    const updateRef = {
      workflowExecution: { workflowId: run.id, runId: run.runId },
      updateId: update.id,
    };
    return {
      updateRef,
      stage: update.outcome
        ? Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED
        : update.stage,
      ...(update.outcome && { outcome: update.outcome }),
    };
  }
}

function mayReuse(known: Run, policy: number | null | undefined): boolean {
  if (policy === Reuse.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE) return false;
  return (
    policy !== Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY ||
    known.status !== Status.WORKFLOW_EXECUTION_STATUS_COMPLETED
  );
}

function alreadyStarted({ runId }: Run): CallError {
  const type = api.api.errordetails.v1.WorkflowExecutionAlreadyStartedFailure;
  const bytes = type.encode({ startRequestId: "", runId }).finish();
  return new CallError(grpc.ALREADY_EXISTS, "Workflow execution is already running.", {
    type: "temporal.api.errordetails.v1.WorkflowExecutionAlreadyStartedFailure",
    bytes,
  });
}

function queryFailed(failure: Failure) {
  const type = api.api.errordetails.v1.QueryFailedFailure;
  return {
    type: "temporal.api.errordetails.v1.QueryFailedFailure",
    bytes: type.encode({ failure }).finish(),
  };
}
