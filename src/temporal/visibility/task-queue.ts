// Asks the server about the workflow tasks of a queue: who polls for them, and how long the oldest one has been waiting.
import type { ConnectionLike } from "@temporalio/client";
import proto from "@temporalio/proto";

const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;
const { DESCRIBE_TASK_QUEUE_MODE_ENHANCED: ENHANCED } =
  proto.temporal.api.enums.v1.DescribeTaskQueueMode;

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

/** The newest poll of a worker at one partition of a queue, in milliseconds of the server's clock. */
export interface Poll {
  /** Of the worker. */
  identity: string;
  atMs: number;
  /** Of a versioned worker. */
  release?: { deploymentName: string; buildId: string };
}

interface WorkflowQueue {
  /** At the queue's root partition. */
  polls: Poll[];
  /** Over all partitions; 0 where the server does not say it. */
  backlogAgeMs: number;
}

/** A namespace and the way to it. */
export interface Namespace {
  connection: Pick<ConnectionLike, "workflowService">;
  namespace: string;
}

/** As of some seconds ago. */
export async function describeWorkflowQueue(
  { connection, namespace }: Namespace,
  name: string,
): Promise<WorkflowQueue> {
  const { pollers, stats } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: WORKFLOW,
    reportStats: true,
  });
  return {
    polls: pollsOf(pollers),
    backlogAgeMs: msOf(stats?.approximateBacklogAge ?? {}),
  };
}

type Pollers = Awaited<
  ReturnType<ConnectionLike["workflowService"]["describeTaskQueue"]>
>["pollers"];

const pollsOf = (pollers: Pollers | null | undefined): Poll[] =>
  (pollers ?? []).map(({ identity, lastAccessTime, deploymentOptions: release }) => ({
    identity: identity ?? "",
    atMs: msOf(lastAccessTime ?? {}),
    ...(release?.deploymentName &&
      release.buildId && {
        release: { deploymentName: release.deploymentName, buildId: release.buildId },
      }),
  }));

/** The polls at all partitions, of workers of all versions. It costs the server a call to each partition. */
export async function pollsAtAllPartitions(
  { connection, namespace }: Namespace,
  name: string,
): Promise<Poll[]> {
  const { versionsInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    apiMode: ENHANCED,
    taskQueueTypes: [WORKFLOW],
    versions: { unversioned: true, allActive: true },
    reportPollers: true,
  });
  const versions = Object.values(versionsInfo ?? {});
  // Such an answer says nothing about polls.
  if (versions.length === 0) throw new Error("the server does not tell the polls of a task queue");
  return versions.flatMap(({ typesInfo }) => pollsOf(typesInfo?.[WORKFLOW]?.pollers));
}
