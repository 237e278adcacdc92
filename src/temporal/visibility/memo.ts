// Reads what Temporal shows of a process without its worker: the fields of its memo. Anyone who can reach Temporal could have set them
// (decision 22), so what our workers did not write counts as absent.
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { proposalsMemo, splitWorkflowId, statusMemo } from "../../contracts/shared/names.js";
import type { ProposedDecision } from "../../contracts/shared/names.js";
import type { ProcessStatus } from "../../contracts/shared/status.js";
import { opened } from "./open-calls.js";

type Shown = Pick<WorkflowExecutionInfo, "workflowId"> & { raw: unknown };

/** The decisions that wait for a second operator; undefined if there are none. */
export async function proposalsOf(
  client: Client,
  shown: Shown,
): Promise<ProposedDecision[] | undefined> {
  const found = await memoOf(client, shown, proposalsMemo);
  return areProposals(found) ? found : undefined;
}

/** Returns it as of the newest workflow task that changed it; undefined if the process has none yet. */
export async function statusOf(client: Client, shown: Shown): Promise<ProcessStatus | undefined> {
  const found = await memoOf(client, shown, statusMemo);
  return isStatus(found, shown.workflowId) ? found : undefined;
}

/** The sealed status as bytes: as long as they are the same, the process has changed nothing in it. */
export function sealedStatusOf({ raw }: Pick<Shown, "raw">): Uint8Array {
  return memoIn(raw)?.[statusMemo]?.data ?? new Uint8Array();
}

async function memoOf(client: Client, { raw, workflowId }: Shown, field: string): Promise<unknown> {
  const { namespace } = client.options;
  const payload = memoIn(raw)?.[field];
  const context = { type: "workflow", namespace, workflowId } as const;
  const [found] = payload ? await opened(client, [payload], context) : [];
  return found;
}

type Memo = { memo?: { fields?: Record<string, Payload> | null } | null };

/** `raw` is an execution in a list, or a description. */
function memoIn(raw: unknown): Record<string, Payload> | null | undefined {
  const { workflowExecutionInfo: info = raw } = raw as { workflowExecutionInfo?: unknown };
  return (info as Memo).memo?.fields;
}

function areProposals(found: unknown): found is ProposedDecision[] {
  const isText = (value: unknown) => typeof value === "string";
  const isOne = ({ attention, decision, principal }: Partial<ProposedDecision>) =>
    [attention, decision, principal].every(isText);
  return Array.isArray(found) && found.every((one) => isOne((one ?? {}) as object));
}

/** The status of another process is none, also as a copy. */
function isStatus(found: unknown, workflowId: string): found is ProcessStatus {
  const status = (found ?? {}) as Partial<ProcessStatus>;
  const name = splitWorkflowId(workflowId);
  return (
    status.process === name?.process &&
    status.id === name?.id &&
    typeof status.phase === "string" &&
    typeof status.references === "object" &&
    status.references !== null &&
    Array.isArray(status.timeline)
  );
}
