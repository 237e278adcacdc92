// Executions as the visibility shows them. Whoever reaches Temporal may start one with any memo (decision 22), so no memo is
// decoded with the list: one that cannot be decoded would end it for everybody.
import { WorkflowClient } from "@temporalio/client";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload } from "@temporalio/common";
import { proposalsMemo } from "../contracts/names.js";
import type { ProposedDecision } from "../contracts/names.js";

const nothing = defaultPayloadConverter.toPayload(undefined);
const unread = {
  encode: async (payloads: Payload[]) => payloads,
  decode: async (payloads: Payload[]) => payloads.map(() => nothing),
};

/** Without memos: `proposalsOf` reads the one that is shown. */
export function listInfos(
  { connection, options: { namespace } }: Client,
  query: string,
): AsyncIterable<WorkflowExecutionInfo> {
  const dataConverter = { payloadCodecs: [unread] };
  return new WorkflowClient({ connection, namespace, dataConverter }).list({ query });
}

/** The decisions that wait for a second operator; undefined where there are none, or what stands there is not of our workers. */
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
