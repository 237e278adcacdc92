// A reset of a process, which applies every signal and update after that point again.
import proto from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import type { TestStack } from "./stack.js";

const { ResetReapplyType } = proto.temporal.api.enums.v1;

export async function resetToTheStart({ client }: TestStack, workflowId: string): Promise<void> {
  const { workflow, workflowService } = client.temporal;
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const begun = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await workflowService.resetWorkflowExecution({
    namespace: workflow.options.namespace,
    workflowExecution: { workflowId },
    requestId: randomUUID(),
    reason: "to the very start",
    workflowTaskFinishEventId: begun?.eventId ?? null,
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
  });
}
