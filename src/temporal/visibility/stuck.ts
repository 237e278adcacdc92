// Finds stuck processes: Temporal retries their workflow task, and every attempt fails; or no worker takes the task, or ends it, for
// minutes.
import proto from "@temporalio/proto";
import { processes } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { workflowTaskQueue } from "../../contracts/shared/names.js";
import { unlessNotFound } from "../grpc-status.js";
import { isRunning, ofTypes } from "./query.js";
import { describeWorkflowQueue, msOf } from "./task-queue.js";
import type { Namespace } from "./task-queue.js";

export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

export interface Execution {
  workflowId: string;
  runId: string;
}

/** As the visibility shows it. */
export interface ListedExecution extends Execution {
  startedAt?: Date;
}

export interface Stuck {
  /** When the first attempt failed, or the task was scheduled. */
  since: string;
  /** Failed attempts since then. */
  failures: number;
  /**
   * Temporal's name of the last failure's cause: `NON_DETERMINISTIC_ERROR`, `WORKFLOW_WORKER_UNHANDLED_FAILURE` …; ours where no
   * attempt failed: `NOT_TAKEN` by any worker, or `TIMED_OUT` at one.
   */
  cause: string;
  /** When the clean-up reset it, which it does once. */
  repairedAt?: string;
}

const { EventType, PendingWorkflowTaskState, WorkflowTaskFailedCause } =
  proto.temporal.api.enums.v1;
const { PENDING_WORKFLOW_TASK_STATE_STARTED: STARTED } = PendingWorkflowTaskState;
const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW: RESET } = WorkflowTaskFailedCause;

/** The history keeps it, so the reset needs no other record. */
export const repairReason = "trustflow cleanup: reset to the last good workflow task";

/** One or two failures may be the end of a worker. The third attempt begins about 20 s after the first. */
const MIN_FAILURES = 3;
/** So long a task may wait for a worker, or time out at one: longer than a deployment takes. */
const LATE_MS = 300_000;
/** So many executions are looked at at once, and no more. */
const CONCURRENCY = 8;

/** Failures that are no defect: a reset, a move to another cluster, or an event that came while the task was running. */
const harmless = new Set<unknown>([
  RESET,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
]);

/**
 * A visibility query for the open processes among which the stuck ones are: all, or those that the server (1.30 and later)
 * has marked. The mark alone does not make a process stuck: a slow worker's timeouts raise it too. A task that no worker takes has no
 * mark; it shows in the backlog of the queue.
 */
export async function candidatesQuery(
  where: Namespace,
  names: readonly ProcessName[] = processes,
): Promise<string> {
  const { connection, namespace } = where;
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
  const marks = namespaceInfo?.capabilities?.reportedProblemsSearchAttribute === true;
  const isMarked =
    marks && (await describeWorkflowQueue(where, workflowTaskQueue)).backlogAgeMs < LATE_MS;
  return [
    ofTypes(names),
    isRunning,
    ...(isMarked ? ["TemporalReportedProblems IS NOT NULL"] : []),
  ].join(" AND ");
}

/** Returns those of these executions that are stuck, with their histories. */
export async function* filterStuck<E extends Execution>(
  where: Namespace,
  executions: AsyncIterable<E> | Iterable<E>,
  onError: (execution: E, error: unknown) => void = (_, error) => {
    throw error;
  },
): AsyncIterable<{ execution: E; stuck: Stuck; events: HistoryEvent[] }> {
  const look = (execution: E) =>
    inspect(where, execution).then(
      (found) => found && { execution, ...found },
      (error: unknown) => onError(execution, error),
    );
  for await (const found of someAtOnce(executions, look)) if (found) yield found;
}

/** Looks at several at once, in their order. */
export async function* someAtOnce<E, R>(
  all: AsyncIterable<E> | Iterable<E>,
  look: (one: E) => Promise<R>,
): AsyncIterable<R> {
  let batch: E[] = [];
  for await (const one of all) {
    batch.push(one);
    if (batch.length < CONCURRENCY) continue;
    yield* await Promise.all(batch.map(look));
    batch = [];
  }
  yield* await Promise.all(batch.map(look));
}

/** Lists page by page what the visibility shows for a query; reads no payload, so it needs no key. */
export async function* listExecutions(
  { connection: { workflowService }, namespace }: Namespace,
  query: string,
): AsyncIterable<ListedExecution> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listWorkflowExecutions({
      namespace,
      query,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { execution, startTime } of page.executions) {
      const { workflowId, runId } = execution ?? {};
      if (workflowId && runId)
        yield { workflowId, runId, ...(startTime && { startedAt: new Date(msOf(startTime)) }) };
    }
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}

type PendingTask = proto.temporal.api.workflow.v1.IPendingWorkflowTaskInfo;

/** False where a description alone shows that the execution is not stuck. */
export function mayBeStuck(task: PendingTask | null | undefined, now = Date.now()): boolean {
  return mayFail(task) || readLate(task, now) !== undefined;
}

/** False where a description alone shows that no attempt of the task has failed. */
export function mayFail(task: PendingTask | null | undefined): boolean {
  return (task?.attempt ?? 0) >= 2;
}

/** True of a process that goes on by itself once workers take its task, and end it, in time. */
export function isLate(stuck: Stuck): stuck is Stuck & { cause: "NOT_TAKEN" | "TIMED_OUT" } {
  return stuck.cause === "NOT_TAKEN" || stuck.cause === "TIMED_OUT";
}

/** A task that has been waiting for minutes, with however many attempts. */
export function readLate(task: PendingTask | null | undefined, now: number): Stuck | undefined {
  const scheduled = task?.originalScheduledTime ?? task?.scheduledTime;
  if (!task || !scheduled || now - msOf(scheduled) < LATE_MS) return undefined;
  const failures = Math.max(0, (task.attempt ?? 1) - 1);
  const cause = failures === 0 && task.state !== STARTED ? "NOT_TAKEN" : "TIMED_OUT";
  return { since: new Date(msOf(scheduled)).toISOString(), failures, cause };
}

/** Undefined where the execution is not stuck, or has ended meanwhile; without a run id it is the newest run. */
export async function inspect(
  { connection: { workflowService }, namespace }: Namespace,
  { workflowId, runId = "" }: { workflowId: string; runId?: string },
): Promise<{ stuck: Stuck; events: HistoryEvent[] } | undefined> {
  const execution = { workflowId, runId };
  try {
    const { pendingWorkflowTask: task } = await workflowService.describeWorkflowExecution({
      namespace,
      execution,
    });
    if (!mayBeStuck(task)) return undefined;
    const attempt = task?.attempt ?? 0;
    const events: HistoryEvent[] = [];
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = await workflowService.getWorkflowExecutionHistory({
        namespace,
        execution,
        ...(nextPageToken && { nextPageToken }),
      });
      events.push(...(page.history?.events ?? []));
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    } while (nextPageToken);
    const stuck = readStuck(events, attempt) ?? readLate(task, Date.now());
    return stuck && { stuck, events };
  } catch (error) {
    return unlessNotFound(error);
  }
}

/**
 * Reads it from a history and the number of the pending attempt. The history shows the first failure of a task; of its further attempts
 * only the number is known. A signal begins the numbers anew, with one more failure in the history.
 */
export function readStuck(events: HistoryEvent[], attempt: number): Stuck | undefined {
  let failed: HistoryEvent[] = [];
  let repairedAt: string | undefined;
  for (const event of events) {
    const { eventType, workflowTaskFailedEventAttributes: failure } = event;
    const isReset = failure?.cause === RESET;
    if (isReset || eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) failed = [];
    if (isReset && failure.failure?.message === repairReason) repairedAt = timeOf(event);
    if (failure && !harmless.has(failure.cause)) failed.push(event);
  }
  const [first] = failed;
  const failures = failed.length + Math.max(0, attempt - 2);
  if (!first || failures < MIN_FAILURES) return undefined;
  const cause = failed.at(-1)?.workflowTaskFailedEventAttributes?.cause ?? 0;
  return {
    since: timeOf(first),
    failures,
    cause: (WorkflowTaskFailedCause[cause] ?? "").replace("WORKFLOW_TASK_FAILED_CAUSE_", ""),
    ...(repairedAt !== undefined && { repairedAt }),
  };
}

function timeOf({ eventTime }: HistoryEvent): string {
  return new Date(msOf(eventTime ?? {})).toISOString();
}
