// Asks the server about the workflow tasks of a queue: who polls for them, and how long the oldest one has been waiting.
import type { ConnectionLike } from "@temporalio/client";
import proto from "@temporalio/proto";

const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** Milliseconds of an instant or a span of Temporal's API. */
export function msOf({
  seconds,
  nanos,
}: {
  seconds?: unknown;
  nanos?: number | null | undefined;
}): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6;
}

interface WorkflowQueue {
  /**
   * Each is the newest poll of a worker at the queue's root partition, in milliseconds of the server's clock; `identity` is the worker's.
   */
  polls: { identity: string; atMs: number }[];
  /** Over all partitions; 0 where the server does not say it. */
  backlogAgeMs: number;
}

/** As of some seconds ago. */
export async function describeWorkflowQueue(
  {
    connection,
    namespace,
  }: { connection: Pick<ConnectionLike, "workflowService">; namespace: string },
  name: string,
): Promise<WorkflowQueue> {
  const { pollers, stats } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: WORKFLOW,
    reportStats: true,
  });
  return {
    polls: (pollers ?? []).map(({ identity, lastAccessTime }) => ({
      identity: identity ?? "",
      atMs: msOf(lastAccessTime ?? {}),
    })),
    backlogAgeMs: msOf(stats?.approximateBacklogAge ?? {}),
  };
}
