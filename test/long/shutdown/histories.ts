// What Temporal tells of a process: whether a task of it failed, or an attempt that a worker had begun was lost.
import type protobuf from "@temporalio/proto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { failedTasksIn } from "../../harness/histories/replayed.js";
import { historyOf, type TestStack } from "../../harness/stack/stack.js";

type Failure = protobuf.temporal.api.failure.v1.IFailure | null | undefined;

/**
 * Every attempt that a worker has begun, as its log at DEBUG has them. The server may hand a task to a poll in the moment in
 * which that is given up (src/temporal/worker-connection.ts): such an attempt has only begun for the server, which repeats it.
 */
export async function begunAttempts({ stack }: TestStack): Promise<ReadonlySet<string>> {
  const log = await readFile(join(stack.directory, "logs", "worker.log"), "utf8");
  const lines = log.split("\n").filter((line) => line.includes('"Activity started"'));
  return new Set(
    lines.map((line) => {
      const { workflowId, activityId, attempt } = JSON.parse(line) as Record<string, unknown>;
      return [workflowId, activityId, attempt].join(" ");
    }),
  );
}

/** In words; none when every task, and every attempt that had begun, came to its end. */
export async function lossesOf(
  system: TestStack,
  begun: ReadonlySet<string>,
  workflowId: string,
): Promise<string[]> {
  const { events } = await historyOf(system, workflowId);
  const { raw } = await system.client.temporal.workflow.getHandle(workflowId).describe();
  const byId = new Map((events ?? []).map((event) => [String(event.eventId), event]));
  const losses: string[] = [];
  const look = (activityId: unknown, attempt: number, failure: Failure): void => {
    const isOnTheWay =
      failure?.timeoutFailureInfo && !begun.has([workflowId, activityId, attempt].join(" "));
    // An attempt that found nothing new is the poll's way of waiting.
    const isPoll = failure?.applicationFailureInfo?.type === "unchanged";
    if (!isOnTheWay && !isPoll) losses.push(`attempt ${attempt}: ${wordsOf(failure)}`);
  };

  for (const failed of failedTasksIn({ events: events ?? [] }))
    losses.push(`a workflow task failed: ${failed}`);
  for (const event of events ?? []) {
    const started = event.activityTaskStartedEventAttributes;
    const ended =
      event.activityTaskTimedOutEventAttributes ?? event.activityTaskFailedEventAttributes;
    const scheduled = byId.get(String((started ?? ended)?.scheduledEventId));
    const activityId = scheduled?.activityTaskScheduledEventAttributes?.activityId;
    if (started && (started.attempt ?? 1) > 1)
      look(activityId, (started.attempt ?? 1) - 1, started.lastFailure);
    if (ended) {
      const last = byId.get(String(ended.startedEventId))?.activityTaskStartedEventAttributes;
      look(activityId, last?.attempt ?? 1, ended.failure);
    }
  }
  for (const { activityId, attempt, lastFailure } of raw.pendingActivities ?? []) {
    if ((attempt ?? 1) > 1) look(activityId, (attempt ?? 1) - 1, lastFailure);
  }
  return losses.map((loss) => `${workflowId}: ${loss}`);
}

function wordsOf(failure: Failure): string {
  const { applicationFailureInfo: own, timeoutFailureInfo: timeout, message } = failure ?? {};
  if (own) return `${own.type}, ${message}`;
  return timeout ? `timeout ${timeout.timeoutType}` : JSON.stringify(failure);
}
