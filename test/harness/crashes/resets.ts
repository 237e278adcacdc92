// Resets: every process that had an effect is reset to each of its workflow tasks, running and finished.
import proto from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import type { CrashRow } from "./matrix.js";
import { Run, settle } from "./run.js";
import type { Field } from "./run.js";

const { EventType, ResetReapplyType } = proto.temporal.api.enums.v1;
type EventId = NonNullable<proto.temporal.api.history.v1.IHistoryEvent["eventId"]>;

/** So many processes share the reset points of one history between them; fewer where there are many histories. */
const sharingOf = ({ underTest }: Field) => (underTest.calls.length > 6 ? 3 : 8);

export async function resetRows(field: Field): Promise<CrashRow[]> {
  const calls = field.underTest.calls.filter(({ effectClass }) => effectClass !== "read");
  const runsNamed = (name: string) =>
    calls.flatMap((call) =>
      Array.from(
        { length: sharingOf(field) },
        (_, index) => new Run(field, `${name}-${call.operation}-${index}`, call),
      ),
    );
  const running = runsNamed("reset-running");
  const finished = runsNamed("reset-finished");
  await Promise.all(
    [...running, ...finished].map(async (run) => {
      await run.start();
      await run.tracked();
      run.ask();
      await run.answered();
    }),
  );
  const rows = await resetEach(running);
  await settle(finished);
  return [...rows, ...(await resetEach(finished))];
}

interface ResetPoint {
  run: Run;
  /** The workflow's first run, which every reset starts from. */
  runId: string;
  eventId: EventId;
  phase: string;
}

/** Process n is reset to the points n, n + 8, … of its own first history. */
async function resetEach(runs: Run[]): Promise<CrashRow[]> {
  const rows: CrashRow[] = [];
  const lists = await Promise.all(
    runs.map((run, index) => pointsOf(run, index % sharingOf(run.field))),
  );
  for (let round = 0; lists.some((list) => list.length > round); round += 1) {
    const points = lists.flatMap((list) => list[round] ?? []);
    await Promise.all(points.map(reset));
    await settle(points.map(({ run }) => run));
    rows.push(...(await Promise.all(points.map(({ run, phase }) => run.row(phase)))));
  }
  return rows;
}

async function pointsOf(run: Run, index: number): Promise<ResetPoint[]> {
  const { runId, status, tasks } = await tasksOf(run);
  return tasks.flatMap((eventId, at) => {
    const phase = `reset to task ${at + 1} of ${tasks.length}, ${status}`;
    return at % sharingOf(run.field) === index ? [{ run, runId, eventId, phase }] : [];
  });
}

/** Where a process may be reset to. */
async function tasksOf(run: Run) {
  const { runId, status } = await run.workflow().describe();
  const { events } = await run.workflow(runId).fetchHistory();
  const tasks = (events ?? []).flatMap(({ eventType, eventId }) =>
    eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED && eventId ? [eventId] : [],
  );
  return { runId, tasks, status: status.name === "RUNNING" ? "running" : "finished" };
}

/** Back to before what is under way, whose activity is forgotten. */
export async function resetToLastTask(run: Run): Promise<void> {
  const { runId, tasks } = await tasksOf(run);
  const eventId = tasks.at(-1);
  if (!eventId) throw new Error(`${run.id} has no workflow task to be reset to`);
  await reset({ run, runId, eventId });
}

async function reset({ run, runId, eventId }: Omit<ResetPoint, "phase">): Promise<void> {
  const { trustflow, namespace } = run.field;
  run.renew();
  await trustflow.temporal.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: run.workflowId, runId },
    workflowTaskFinishEventId: eventId,
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
    reason: "crash points",
    requestId: randomUUID(),
  });
}
