// The open processes of a kind that use one account, as the visibility shows them, a moment behind.
import type { ConnectionLike } from "@temporalio/client";
import { searchAttributes } from "../../contracts/shared/names.js";

const LIMIT_MS = 5_000;

export interface OpenOf {
  namespace: string;
  processName: string;
  account: string;
}

/** Their workflow ids, the newest first, as many as `most`. */
export function openProcesses(
  connection: ConnectionLike,
  { namespace, processName, account }: OpenOf,
  most: number,
): Promise<string[]> {
  const named = `${searchAttributes.account.name} = "${account}"`;
  const query = `WorkflowType = "${processName}" and ExecutionStatus = "Running" and ${named}`;
  return connection.withDeadline(Date.now() + LIMIT_MS, async () => {
    const request = { namespace, query, pageSize: most };
    const { executions } = await connection.workflowService.listWorkflowExecutions(request);
    return executions.flatMap(({ execution }) => execution?.workflowId ?? []);
  });
}
