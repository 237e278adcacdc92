// The shape of a history, undecoded: what is encrypted is counted as it is stored.
import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";

export interface Shape {
  events: number;
  bytes: number;
  /** Billable ones of Temporal Cloud. */
  actions: number;
  signals: number;
  activities: number;
}

export async function shapeOf(plain: Client, workflowId: string): Promise<Shape> {
  const handle = plain.workflow.getHandle(workflowId);
  const { events = [] } = await handle.fetchHistory();
  const { workflowExecutionInfo } = await plain.workflowService.describeWorkflowExecution({
    namespace: "default",
    execution: { workflowId },
  });
  const bytes = Number(workflowExecutionInfo?.historySizeBytes ?? 0);
  type Attributes = Exclude<keyof temporal.api.history.v1.IHistoryEvent, "eventId" | "eventType">;
  const count = (attributes: Attributes) =>
    (events ?? []).filter((event) => event[attributes]).length;
  const signals = count("workflowExecutionSignaledEventAttributes");
  const activities = count("activityTaskScheduledEventAttributes");
  const retries = (events ?? []).reduce(
    (sum, event) => sum + Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1),
    0,
  );
  const actions =
    1 +
    signals +
    activities +
    retries +
    count("timerStartedEventAttributes") +
    count("upsertWorkflowSearchAttributesEventAttributes") +
    count("workflowExecutionUpdateAcceptedEventAttributes");
  return { events: events?.length ?? 0, bytes, actions, signals, activities };
}
