// The one memo that `list` shows. Anyone who can reach Temporal could have replaced it (decision 22).
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload } from "@temporalio/common";
import { proposalsMemo } from "../../contracts/shared/names.js";
import type { ProposedDecision } from "../../contracts/shared/names.js";

/** The decisions that wait for a second operator; undefined if there are none, or if our workers did not write the memo. */
export async function proposalsOf(
  { options }: Client,
  { raw, workflowId }: WorkflowExecutionInfo,
): Promise<ProposedDecision[] | undefined> {
  const { memo } = raw as { memo?: { fields?: Record<string, Payload> | null } | null };
  const payload = memo?.fields?.[proposalsMemo];
  if (!payload) return undefined;
  const { namespace, loadedDataConverter: converter } = options;
  const context = { type: "workflow", namespace, workflowId } as const;
  try {
    let payloads = [payload];
    for (const codec of converter.payloadCodecs) payloads = await codec.decode(payloads, context);
    const [decoded = payload] = payloads;
    const found = defaultPayloadConverter.fromPayload<unknown>(decoded);
    return areProposals(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function areProposals(found: unknown): found is ProposedDecision[] {
  const isText = (value: unknown) => typeof value === "string";
  const isOne = ({ attention, decision, principal }: Partial<ProposedDecision>) =>
    [attention, decision, principal].every(isText);
  return Array.isArray(found) && found.every((one) => isOne((one ?? {}) as object));
}
