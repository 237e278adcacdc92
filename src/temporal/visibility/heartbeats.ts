// Reads what the attempts of open activities have left in their heartbeats. Anyone who can reach Temporal could have written it (decision
// 22).
import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";

/** Leaves out those that this client cannot open, or refuses. Needs no worker. */
export async function heartbeatsIn(
  { options: { loadedDataConverter } }: Client,
  { raw: { pendingActivities } }: Pick<WorkflowExecutionDescription, "raw">,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { heartbeatDetails } of pendingActivities ?? []) {
    let payloads = heartbeatDetails?.payloads ?? [];
    try {
      for (const codec of loadedDataConverter.payloadCodecs)
        payloads = await codec.decode(payloads);
      found.push(...payloads.map((payload) => defaultPayloadConverter.fromPayload(payload)));
    } catch {
      continue;
    }
  }
  return found;
}
