// Whoever reaches Temporal may put any memo on an execution (decision 22), and the SDK opens each memo that it shows: one that cannot
// be opened would end a list or a description for everybody. So where none is wanted, none is opened.
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
