// All runs of one workflow id, and their deletion by Temporal itself: history, memo and visibility.
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { setTimeout as delay } from "node:timers/promises";
import { searchAttributes } from "../../contracts/shared/names.js";
import { unlessNotFound } from "../grpc-status.js";
import { withoutMemos } from "./without-memos.js";

export interface Runs {
  isOpen: boolean;
  /** Closed runs only. */
  runIds: string[];
  /** The provider's references that the runs show. */
  references: string[];
}

/** Temporal deletes in the background. */
export class StillThere extends Error {
  override readonly name = "StillThere";

  constructor(workflowId: string) {
    super(`Temporal has not deleted the history of ${workflowId} yet: run the command again`);
  }
}

const { WORKFLOW_EXECUTION_STATUS_RUNNING: RUNNING, WORKFLOW_EXECUTION_STATUS_PAUSED: PAUSED } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;
const isOpenIn = (status: number | null | undefined) => status === RUNNING || status === PAUSED;

/** The newest run as Temporal itself knows it, and those before it as the visibility shows them, a moment behind. */
export async function runsOf(client: Client, workflowId: string): Promise<Runs> {
  const { connection, options } = client;
  const open = new Set<string>();
  const closed = new Set<string>();
  const references = new Set<string>();
  const describe = (execution: { workflowId: string; runId?: string }) =>
    connection.workflowService
      .describeWorkflowExecution({ namespace: options.namespace, execution })
      .catch(unlessNotFound);
  const newest = await describe({ workflowId });
  const { execution, status } = newest?.workflowExecutionInfo ?? {};
  if (execution?.runId) (isOpenIn(status) ? open : closed).add(execution.runId);
  const query = `WorkflowId = "${workflowId}"`;
  const listed = withoutMemos(client).list({ query });
  for await (const { runId, status: shown, typedSearchAttributes } of listed) {
    // The visibility may still show a run as open that has ended; or the run began after the newest was asked for.
    if (isOpenIn(shown.code) && !open.has(runId) && !closed.has(runId)) {
      const run = await describe({ workflowId, runId });
      if (isOpenIn(run?.workflowExecutionInfo?.status)) open.add(runId);
    }
    if (!open.has(runId)) closed.add(runId);
    for (const one of typedSearchAttributes.get(searchAttributes.references) ?? [])
      references.add(one);
  }
  return { isOpen: open.size > 0, runIds: [...closed], references: [...references] };
}

/** Returns once Temporal neither has nor shows any of them. */
export async function deleteRuns(
  client: Client,
  workflowId: string,
  limitMs: number,
): Promise<void> {
  const { namespace } = client.options;
  for (const end = Date.now() + limitMs; ; await delay(200)) {
    const { isOpen, runIds } = await runsOf(client, workflowId);
    if (!isOpen && runIds.length === 0) return;
    for (const runId of runIds) {
      const workflowExecution = { workflowId, runId };
      await client.connection.workflowService
        .deleteWorkflowExecution({ namespace, workflowExecution })
        .catch(unlessNotFound);
    }
    if (Date.now() > end) throw new StillThere(workflowId);
  }
}
