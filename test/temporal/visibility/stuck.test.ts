// What makes a process stuck, read off its history; and where the candidates are looked for.
import { describe, expect, test } from "vitest";
import proto from "@temporalio/proto";
import {
  candidatesQuery,
  mayBeStuck,
  readLate,
  readStuck,
  repairReason,
} from "../../../src/temporal/visibility/stuck.js";
import type { HistoryEvent } from "../../../src/temporal/visibility/stuck.js";
import type { Namespace } from "../../../src/temporal/visibility/task-queue.js";

const { EventType, WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;
type Cause = keyof typeof WorkflowTaskFailedCause extends `WORKFLOW_TASK_FAILED_CAUSE_${infer C}`
  ? C
  : never;

/** One event a second. */
function historyOf(...events: HistoryEvent[]): HistoryEvent[] {
  return events.map((event, index) => ({
    ...event,
    eventTime: { seconds: index, nanos: 0 } as unknown as NonNullable<HistoryEvent["eventTime"]>,
  }));
}

const completed = { eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED };
const timedOut = { eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT };
const failed = (cause: Cause, message = ""): HistoryEvent => ({
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  workflowTaskFailedEventAttributes: {
    cause: WorkflowTaskFailedCause[`WORKFLOW_TASK_FAILED_CAUSE_${cause}`],
    failure: { message },
  },
});
const defect = failed("NON_DETERMINISTIC_ERROR");
const at = (second: number) => new Date(second * 1_000).toISOString();

describe("a task that waits", () => {
  const { PendingWorkflowTaskState: State } = proto.temporal.api.enums.v1;
  const { PENDING_WORKFLOW_TASK_STATE_SCHEDULED: SCHEDULED } = State;
  const { PENDING_WORKFLOW_TASK_STATE_STARTED: STARTED } = State;
  const seconds = (second: number) => ({ seconds: second, nanos: 0 }) as never;
  const task = { originalScheduledTime: seconds(1_000), attempt: 1, state: SCHEDULED };
  const after = (waited: number) => (1_000 + waited) * 1_000;

  test.each([
    ["for a worker, for minutes", task, "NOT_TAKEN", 0],
    ["at a worker, for minutes", { ...task, state: STARTED }, "TIMED_OUT", 0],
    ["with many attempts", { ...task, attempt: 9, scheduledTime: seconds(1_290) }, "TIMED_OUT", 8],
  ])("%s makes its process stuck", (_, pending, cause, failures) => {
    expect(readLate(pending, after(299))).toBeUndefined();
    const late = { since: new Date(1_000_000).toISOString(), cause, failures };
    expect(readLate(pending, after(300))).toEqual(late);
    expect(mayBeStuck(pending, after(300))).toBe(true);
  });

  test("is none where no task is pending, or the first attempt is young", () => {
    expect(mayBeStuck(undefined)).toBe(false);
    expect(mayBeStuck(task, after(299))).toBe(false);
  });
});

const cause = "NON_DETERMINISTIC_ERROR";
const thrown = "WORKFLOW_WORKER_UNHANDLED_FAILURE";
const task = (attempt: number, ...events: HistoryEvent[]) => [attempt, events] as const;
const repair = failed("RESET_WORKFLOW", repairReason);
const byHand = failed("RESET_WORKFLOW", "history does not replay");

test.each<[string, found: object, attempt: number, HistoryEvent[]]>([
  [
    "whose task failed once in the history and twice without a trace",
    { since: at(1), failures: 3, cause },
    ...task(4, completed, defect),
  ],
  [
    "whose attempts began anew with each signal",
    { since: at(1), failures: 3, cause },
    ...task(2, completed, defect, defect, defect),
  ],
  [
    "by the last cause",
    { since: at(0), failures: 4, cause: thrown },
    ...task(4, defect, failed(thrown)),
  ],
  [
    "after a repair, which is told by its reason",
    { since: at(3), failures: 4, cause, repairedAt: at(1) },
    ...task(5, completed, repair, completed, defect),
  ],
  [
    "and not repaired, where a person has reset it",
    { since: at(2), failures: 4, cause },
    ...task(5, completed, byHand, defect),
  ],
])("a process is stuck %s: %j", (_, found, attempt, events) => {
  expect(readStuck(historyOf(...events), attempt)).toEqual(found);
});

test.each<[string, attempt: number, HistoryEvent[]]>([
  ["whose task timed out, however often", ...task(9, completed, timedOut)],
  ["that failed twice", ...task(3, completed, defect)],
  ["that went on afterwards", ...task(9, defect, defect, defect, completed, timedOut)],
  ["that was only reset", ...task(9, completed, failed("RESET_WORKFLOW"))],
  ["whose task met another command", ...task(9, completed, failed("UNHANDLED_COMMAND"))],
  ["whose task was closed by force", ...task(9, completed, failed("FORCE_CLOSE_COMMAND"))],
])("a process is not stuck %s", (_, attempt, events) => {
  expect(readStuck(historyOf(...events), attempt)).toBeUndefined();
});

test("a server that marks failing processes lists the candidates itself", async () => {
  const queryOf = (capabilities: object, backlogSeconds = 0) => {
    const stats = { approximateBacklogAge: { seconds: backlogSeconds, nanos: 0 } };
    const workflowService = {
      describeNamespace: () => ({ namespaceInfo: { capabilities } }),
      describeTaskQueue: () => ({ stats }),
    };
    const where = { namespace: "default", connection: { workflowService } };
    return candidatesQuery(where as unknown as Namespace, ["sendPostal"]);
  };
  const open = 'WorkflowType IN ("sendPostal") AND ExecutionStatus = "Running"';
  expect(await queryOf({})).toBe(open);
  expect(await queryOf({ reportedProblemsSearchAttribute: true })).toBe(
    `${open} AND TemporalReportedProblems IS NOT NULL`,
  );
  // A task that no worker takes has no mark.
  expect(await queryOf({ reportedProblemsSearchAttribute: true }, 300)).toBe(open);
});
