// The process that the running activity belongs to.
import { activityInfo } from "@temporalio/activity";

export function execution(): { namespace: string; workflowId: string } {
  const { namespace, workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error("not started by a workflow");
  return { namespace, workflowId: workflowExecution.workflowId };
}
