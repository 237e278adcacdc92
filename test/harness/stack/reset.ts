// A reset of a process, which applies every signal and update after that point again.
import proto from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import type { Trustflow } from "../../../src/client.js";
import type { TestStack } from "./stack.js";

const { ResetReapplyType } = proto.temporal.api.enums.v1;
export type EventId = NonNullable<proto.temporal.api.history.v1.IHistoryEvent["eventId"]>;

/** To a workflow task that was completed; without a run, of the latest one. */
export async function reset(
  { temporal }: Trustflow,
  workflowExecution: { workflowId: string; runId?: string },
  workflowTaskFinishEventId: EventId | null,
): Promise<void> {
  await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution,
    workflowTaskFinishEventId,
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
    reason: "a test",
    requestId: randomUUID(),
  });
}

/** The workflow tasks that were completed: a process may be reset to each. */
export async function tasksOf(
  { temporal }: Trustflow,
  workflowId: string,
  runId?: string,
): Promise<EventId[]> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap(({ eventId, workflowTaskCompletedEventAttributes: completed }) =>
    completed && eventId ? [eventId] : [],
  );
}

export async function resetToTheStart({ client }: TestStack, workflowId: string): Promise<void> {
  const [begun = null] = await tasksOf(client, workflowId);
  await reset(client, { workflowId }, begun);
}
