// Reads executions without their memos. Anyone who can reach Temporal can set any memo (decision 22), and the SDK decodes
// every memo that it shows; one that cannot be decoded would end a whole list or description.
import { WorkflowClient } from "@temporalio/client";
import type {
  Client,
  ConnectionLike,
  WorkflowExecutionInfo,
  WorkflowService,
} from "@temporalio/client";
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

/** One page of a list and the token of the next one, which the SDK keeps to itself. The token is empty after the last page. */
export async function pageWithoutMemos(
  { connection, options }: Client,
  { token, ...wanted }: { query: string; pageSize: number; token: Uint8Array },
): Promise<{ executions: WorkflowExecutionInfo[]; next: Uint8Array }> {
  let next: Uint8Array = new Uint8Array();
  const listWorkflowExecutions = async (
    request: Parameters<WorkflowService["listWorkflowExecutions"]>[0],
  ) => {
    const page = await connection.workflowService.listWorkflowExecutions({
      ...request,
      nextPageToken: token,
    });
    next = page.nextPageToken ?? next;
    return { executions: page.executions };
  };
  const onePage = { workflowService: { listWorkflowExecutions }, plugins: [] };
  const client = { connection: onePage as unknown as ConnectionLike, options } as Client;
  const executions: WorkflowExecutionInfo[] = [];
  for await (const one of withoutMemos(client).list(wanted)) executions.push(one);
  return { executions, next };
}
