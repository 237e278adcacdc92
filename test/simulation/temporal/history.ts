// The words of Temporal's protocol that the simulated server and the simulated core share: events, times, and which event a command becomes.
import proto from "@temporalio/proto";
import type { temporal } from "@temporalio/proto";

export const { temporal: api, coresdk } = proto;
export const { EventType } = api.api.enums.v1;

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
export type Payload = temporal.api.common.v1.IPayload;
export type Failure = temporal.api.failure.v1.IFailure;
export type Message<T> = T extends object ? { [K in keyof T]?: Message<T[K]> | null } : T;

/** Milliseconds of a span or an instant of the protocol; undefined where none is set. */
export function msOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined) {
  if (!time) return undefined;
  const ms = Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1e6;
  return ms === 0 ? undefined : ms;
}

/** A span or an instant of the protocol. */
export function timeOf(ms: number) {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: seconds as never, nanos: Math.round((ms - seconds * 1_000) * 1e6) };
}

export const idOf = (event: HistoryEvent | undefined): number => Number(event?.eventId ?? 0);

/** The events that a worker's commands become, in the order of the commands. */
const ofCommands = new Set([
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_TIMER_CANCELED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED,
  EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
  EventType.EVENT_TYPE_MARKER_RECORDED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
]);
export const isOfCommand = ({ eventType }: HistoryEvent): boolean => ofCommands.has(eventType!);
