// Processes as those see them who may decrypt: what each shows of itself, and every payload that it has left.
import { QueryNotRegisteredError, type WorkflowHandle } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import protobuf from "@temporalio/proto";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { queryTooEarly } from "../../../src/contracts/shared/messages.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import { ringOf, type TestStack } from "../stack/stack.js";

const { EventType } = protobuf.temporal.api.enums.v1;

/** A place by its kind, such as `ACTIVITY_TASK_SCHEDULED enroll`, and what stands there. */
export type Decoded = [place: string, text: string];

/** Of every run of a process: each event, what is pending, the query `status`, and the details that the Web UI shows. */
export async function* decoded(
  system: TestStack,
  processName: ProcessName,
): AsyncIterable<Decoded> {
  const codec = new EncryptionCodec(ringOf(system.stack, "CODEC"));
  const texts = async (value: unknown) =>
    (await codec.decode(payloadsIn(value))).map(({ data }) => Buffer.from(data ?? []).toString());
  const { workflow } = system.client.temporal;
  const query = `WorkflowType = "${processName}"`;
  for await (const { workflowId, runId } of workflow.list({ query })) {
    const handle = workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    const activities = new Map<string, string>();
    for (const event of events ?? []) {
      const { activityTaskScheduledEventAttributes: scheduled, userMetadata, ...rest } = event;
      const activity = scheduled?.activityType?.name ?? "";
      if (scheduled) activities.set(String(event.eventId), activity);
      const from =
        rest.activityTaskCompletedEventAttributes ?? rest.activityTaskFailedEventAttributes;
      const update = rest.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
      const about = scheduled
        ? activity
        : (update?.name ?? activities.get(String(from?.scheduledEventId)));
      const type = EventType[event.eventType ?? 0] ?? "";
      const short = type.replace(/^EVENT_TYPE_(WORKFLOW_EXECUTION_)?/, "");
      const place = about === undefined ? short : `${short} ${about}`;
      for (const text of await texts({ ...rest, scheduled })) yield [place, text];
      for (const text of await texts(userMetadata)) yield ["summary", text];
    }
    const { raw } = await handle.describe();
    for (const text of await texts(raw)) yield ["description", text];
    for (const asks of ["status", "__temporal_workflow_metadata"])
      yield [asks, JSON.stringify(await asked(handle, asks)) ?? ""];
  }
}

/** Every payload below a value. */
export function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  if ("metadata" in value && "data" in value) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

/** A query that came too early is asked again, unless a termination has left events that no task will ever take (docs/decisions/0015). */
async function asked(handle: WorkflowHandle, query: string): Promise<unknown> {
  for (;;) {
    try {
      return await handle.query(query);
    } catch (error) {
      if (!(error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly)))
        throw error;
      const { status } = await handle.describe();
      if (status.name === "TERMINATED") return undefined;
    }
  }
}
