// What of a history two servers have in common: without times, and without what each of them chooses.
import { api } from "./history.js";
import type { HistoryEvent } from "./history.js";

const { HistoryEvent: Event } = api.api.history.v1;

const different = new Set([
  // Times, sizes, and ids that the server chooses.
  ...["eventTime", "taskId", "version", "runId", "requestId", "identity", "historySizeBytes"],
  ...["originalExecutionRunId", "firstExecutionRunId", "namespaceId", "parentWorkflowNamespaceId"],
  // Our workers do not use versions of Temporal, and in the simulation all of them have the same build.
  ...["workerVersion", "useWorkflowBuildId", "inheritBuildId"],
]);

export function shapesOf(events: HistoryEvent[]): unknown[] {
  return events.map((event) =>
    plain(Event.toObject(Event.fromObject(onAnyQueue(event)), { enums: String, longs: String })),
  );
}

/** The real server names the queue of one worker, which the simulated one knows by its identity alone. */
function onAnyQueue(event: HistoryEvent): HistoryEvent {
  const { workflowTaskScheduledEventAttributes: scheduled } = event;
  if (!scheduled) return event;
  return { ...event, workflowTaskScheduledEventAttributes: { ...scheduled, taskQueue: null } };
}

/** Without empty members, which the wire does not have. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  // The core writes its flags in any order.
  if (Array.isArray(value)) return value.map((one) => plain(one)).toSorted(byNumber);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const member = plain(one);
      return different.has(name) || isEmpty(member) ? [] : [[name, member]];
    }),
  );
}

const byNumber = (one: unknown, other: unknown) =>
  typeof one === "number" && typeof other === "number" ? one - other : 0;

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return [undefined, null, "", "0", 0, false].includes(value as never);
}
