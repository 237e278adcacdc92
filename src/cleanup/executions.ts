// Reads the state of one process from Temporal itself. The visibility store may lag or be empty, so nothing is deleted based
// on it. It decodes no payload, so it needs no key.
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";

const { WORKFLOW_EXECUTION_STATUS_RUNNING: RUNNING } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;
const NOT_FOUND = 5;

/** Whether Temporal still has the history of its newest run. */
export async function isKnown(client: Client, workflowId: string): Promise<boolean> {
  return (await statusOf(client, workflowId)) !== undefined;
}

export async function isOpen(client: Client, workflowId: string): Promise<boolean> {
  return (await statusOf(client, workflowId)) === RUNNING;
}

/** When its newest run has ended; undefined where Temporal does not have it any more. */
export async function closeTimeOf(
  client: Client,
  workflowId: string,
): Promise<Date | "open" | undefined> {
  const info = await infoOf(client, workflowId);
  if (!info) return undefined;
  const { status, closeTime } = info;
  if (status === RUNNING || !closeTime) return "open";
  return new Date(Number(closeTime.seconds) * 1_000);
}

async function statusOf(client: Client, workflowId: string): Promise<number | undefined> {
  const info = await infoOf(client, workflowId);
  return info && (info.status ?? RUNNING);
}

async function infoOf(
  { workflowService, options: { namespace } }: Client,
  workflowId: string,
): Promise<proto.temporal.api.workflow.v1.IWorkflowExecutionInfo | undefined> {
  try {
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    return workflowExecutionInfo ?? {};
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
    // A missing namespace gives the same error, which says nothing about its processes.
    await workflowService.describeNamespace({ namespace });
    return undefined;
  }
}
