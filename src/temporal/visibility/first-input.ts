// The input of a process as Temporal keeps it: the argument in the first event of its history, whichever client started it.
import type { Client } from "@temporalio/client";
import type { PayloadCodec } from "@temporalio/common";
import { defaultPayloadConverter } from "@temporalio/common";

/** Reads the newest run, or the one that is named; undefined where it was started without an argument. Needs no worker. */
export async function firstInput(
  client: Client,
  codec: PayloadCodec,
  workflowId: string,
  runId?: string,
): Promise<unknown> {
  const { namespace } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, ...(runId !== undefined && { runId }) },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const [payload] = await codec.decode((started?.input?.payloads ?? []).slice(0, 1));
  return payload && defaultPayloadConverter.fromPayload(payload);
}
