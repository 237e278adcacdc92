// Reads executions without their memos. Anyone who can reach Temporal can set any memo (decision 22), and the SDK decodes
// every memo that it shows; one that cannot be decoded would end a whole list or description.
import { WorkflowClient } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload } from "@temporalio/common";

const nothing = defaultPayloadConverter.toPayload(undefined);
const unread = {
  encode: async (payloads: Payload[]) => payloads,
  decode: async (payloads: Payload[]) => payloads.map(() => nothing),
};

/** To list and to describe alone: it reads no payload. */
export function withoutMemos({
  connection,
  options: { namespace },
}: Client): Pick<WorkflowClient, "list" | "getHandle"> {
  return new WorkflowClient({ connection, namespace, dataConverter: { payloadCodecs: [unread] } });
}
