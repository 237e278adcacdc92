// The shape of a history: its events, and the billable actions among them.
import protobuf from "@temporalio/proto";
import type { History } from "@temporalio/common/lib/proto-utils.js";

const { EventType } = protobuf.temporal.api.enums.v1;

/**
 * What Temporal Cloud counts as an action, one for each of these events: a start, an activity (each retry of one counts
 * too, and leaves no event), a timer, a signal, an update, an upsert of search attributes.
 */
const billed = new Set([
  "WORKFLOW_EXECUTION_STARTED",
  "ACTIVITY_TASK_SCHEDULED",
  "TIMER_STARTED",
  "WORKFLOW_EXECUTION_SIGNALED",
  "WORKFLOW_EXECUTION_UPDATE_ACCEPTED",
  "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
  "START_CHILD_WORKFLOW_EXECUTION_INITIATED",
  "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  "MARKER_RECORDED",
]);

export interface Shape {
  events: number;
  actions: number;
  /** Signals: each is one group of callbacks. */
  groups: number;
  bytes: number;
  /** How often each kind of event occurs. */
  kinds: Record<string, number>;
}

export function shapeOf(history: History): Shape {
  const types = (history.events ?? []).map(({ eventType }) =>
    (EventType[eventType ?? 0] ?? "").replace("EVENT_TYPE_", ""),
  );
  const kinds: Record<string, number> = {};
  for (const type of types) kinds[type] = (kinds[type] ?? 0) + 1;
  return {
    events: types.length,
    actions: types.filter((type) => billed.has(type)).length,
    groups: kinds["WORKFLOW_EXECUTION_SIGNALED"] ?? 0,
    bytes: protobuf.temporal.api.history.v1.History.encode(history).finish().length,
    kinds,
  };
}
