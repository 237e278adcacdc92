// Resets: every process that had an effect is reset to each of its workflow tasks, running and finished.
import type { CrashRow } from "./matrix.js";
import { Run, settle, type Field } from "./run.js";
import { reset, tasksOf, type EventId } from "../stack/reset.js";

/** So many processes share the reset points of one history between them; fewer where there are many histories. */
const sharingOf = ({ underTest }: Field) => (underTest.calls.length > 6 ? 3 : 8);

export async function resetRows(field: Field): Promise<CrashRow[]> {
  const calls = field.underTest.calls.filter(({ effectClass }) => effectClass !== "read");
  const sharing = Array.from({ length: sharingOf(field) }, (_, index) => index);
  const runsNamed = (name: string) =>
    calls.flatMap((call) =>
      sharing.map((index) => new Run(field, `${name}-${call.operation}-${index}`, call)),
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
    await Promise.all(points.map(resetTo));
    await settle(points.map(({ run }) => run));
    rows.push(...(await Promise.all(points.map(({ run, phase }) => run.row(phase)))));
  }
  return rows;
}

async function pointsOf(run: Run, index: number): Promise<ResetPoint[]> {
  const { runId, status } = await run.workflow().describe();
  const tasks = await tasksOf(run.field.trustflow, run.workflowId, runId);
  return tasks.flatMap((eventId, at) => {
    const phase = `reset to task ${at + 1} of ${tasks.length}, ${status.name === "RUNNING" ? "running" : "finished"}`;
    return at % sharingOf(run.field) === index ? [{ run, runId, eventId, phase }] : [];
  });
}

/** Back to before what is under way, whose activity is forgotten. */
export async function resetToLastTask(run: Run): Promise<void> {
  const { runId } = await run.workflow().describe();
  const eventId = (await tasksOf(run.field.trustflow, run.workflowId, runId)).at(-1);
  if (!eventId) throw new Error(`${run.id} has no workflow task to be reset to`);
  await resetTo({ run, runId, eventId });
}

async function resetTo({ run, runId, eventId }: Omit<ResetPoint, "phase">): Promise<void> {
  run.renew();
  await reset(run.field.trustflow, { workflowId: run.workflowId, runId }, eventId);
}
