// What the server knows of the workflow tasks of a queue: who polls for them, and how long the oldest one has been waiting.
import type { ConnectionLike } from "@temporalio/client";
import proto from "@temporalio/proto";
import { msOf } from "./instants.js";

const { DescribeTaskQueueMode, TaskQueueType } = proto.temporal.api.enums.v1;
const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW } = TaskQueueType;

export interface WorkflowQueue {
  /** The newest poll of each worker, by its identity; milliseconds. */
  polls: { identity: string; atMs: number }[];
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
  const { versionsInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    apiMode: DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
    taskQueueTypes: [WORKFLOW],
    reportPollers: true,
    reportStats: true,
  });
  const found = Object.values(versionsInfo ?? {}).flatMap(
    ({ typesInfo }) => typesInfo?.[WORKFLOW] ?? [],
  );
  return {
    polls: found
      .flatMap(({ pollers }) => pollers ?? [])
      .map(({ identity, lastAccessTime }) => ({
        identity: identity ?? "",
        atMs: msOf(lastAccessTime ?? {}),
      })),
    backlogAgeMs: Math.max(
      0,
      ...found.map(({ stats }) => msOf(stats?.approximateBacklogAge ?? {})),
    ),
  };
}
