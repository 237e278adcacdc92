// Reads what Temporal knows of the activities that a process waits for: how often each was tried, why the last attempt failed, when the
// next one comes, and what the attempts have left in their heartbeats. Anyone who can reach Temporal could have written it (decision 22).
import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload, SerializationContext } from "@temporalio/common";
import type proto from "@temporalio/proto";
import { msOf } from "./task-queue.js";

type PendingActivity = proto.temporal.api.workflow.v1.IPendingActivityInfo;

export interface OpenCall {
  activity: string;
  /** The attempt that is under way or comes next; the first is 1. */
  attempt: number;
  /** Undefined while an attempt is under way, or waits for a worker. */
  nextAttemptAt: Date | undefined;
  heartbeat: unknown;
  /** Undefined where no attempt has failed. */
  lastFailure: { type: string; detail: unknown } | undefined;
}

/** Leaves out of each what this client cannot open, or refuses. Needs no worker. */
export function openCallsIn(
  client: Client,
  { raw: { pendingActivities } }: Pick<WorkflowExecutionDescription, "raw">,
): Promise<OpenCall[]> {
  return Promise.all((pendingActivities ?? []).map((activity) => openCallOf(client, activity)));
}

async function openCallOf(client: Client, activity: PendingActivity): Promise<OpenCall> {
  const { activityType, attempt, nextAttemptScheduleTime: next } = activity;
  const { heartbeatDetails, lastFailure } = activity;
  const [heartbeat] = await opened(client, heartbeatDetails?.payloads);
  const { applicationFailureInfo: failed } = lastFailure ?? {};
  const [detail] = await opened(client, failed?.details?.payloads);
  return {
    activity: activityType?.name ?? "",
    attempt: attempt ?? 1,
    nextAttemptAt: next ? new Date(msOf(next)) : undefined,
    heartbeat,
    lastFailure: lastFailure ? { type: failed?.type ?? "Timeout", detail } : undefined,
  };
}

/** Empty where this client cannot open them, or refuses them. */
export async function opened(
  { options: { loadedDataConverter } }: Client,
  payloads: Payload[] | null | undefined,
  context?: SerializationContext,
): Promise<unknown[]> {
  let found = payloads ?? [];
  try {
    for (const codec of loadedDataConverter.payloadCodecs)
      found = await codec.decode(found, context);
    return found.map((payload) => defaultPayloadConverter.fromPayload(payload));
  } catch {
    return [];
  }
}
