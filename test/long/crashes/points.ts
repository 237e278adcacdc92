// Crash points of a letter: each call with an effect × each interruption, at the phases of the call in turn. The letters of all points are
// brought to their points in one worker, which is then interrupted once.
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { holding, startRoleOf, type Hold, type HoldPoint } from "../../harness/outages/roles.js";
import { eventually } from "../../harness/outages/wait.js";
import { reset, tasksOf } from "../../harness/stack/reset.js";
import { timeouts, type TestStack } from "../../harness/stack/stack.js";
import { LIMIT_MS, Run, settle } from "./run.js";
import type { CallOfLetter, CrashRow, Field } from "./run.js";

/**
 * `killed`: the worker, by SIGKILL. `terminated`: also the process, which is then started again with its id. `reset`: also
 * the process, to a point before the work in progress. `splitBrain`: the worker is frozen (SIGSTOP) until a replacement has
 * taken over, then continues.
 */
export type Interruption = "killed" | "terminated" | "reset" | "splitBrain";

interface Phase {
  name: string;
  /** Without one, the provider's answer is held back after its commit. */
  hold?: HoldPoint;
  /** What the journal's row has to say then. */
  state?: string;
}

const take = "insert into trustflow\\.effects|set state = 'sending'";
const answer = "set state = 'answered'";
const phases: Phase[] = [
  { name: "beforeSending", hold: { when: "after", statement: take }, state: "sending" },
  { name: "beforeRequest", hold: { when: "beforeRequest", since: take }, state: "sending" },
  { name: "afterCommit", state: "sending" },
  { name: "beforeJournal", hold: { when: "before", statement: answer }, state: "sending" },
  { name: "beforeTemporal", hold: { when: "after", statement: answer }, state: "answered" },
];
interface Point {
  run: Run;
  phase: Phase;
  interruption: Interruption;
  isReached(): boolean;
}

const ANSWER_HELD_MS = 120_000;
/** Longer than it takes to come to every point, so that no call ends before the interruption. */
const unhurried = { TRUSTFLOW_JOURNAL__LEASE_SECONDS: "20", ...timeouts(17) };
/** Two workers are up at once, so none gets the one health port. */
const noPort = { TRUSTFLOW_WORKER__HEALTH_PORT: "0" };

export interface Sample {
  field: Field;
  /** In each row of the table the next call is at the next phase. */
  calls: CallOfLetter[];
  interruptions: Interruption[];
  firstPhase?: number;
}

export async function interruptedRows(system: TestStack, samples: Sample[]): Promise<CrashRow[]> {
  const holds: Hold[] = [];
  const points: Point[] = [];
  for (const { field, calls, interruptions, firstPhase = 0 } of samples)
    for (const [row, call] of calls.entries())
      for (const [column, interruption] of interruptions.entries()) {
        const phase = phases[(firstPhase + row + column) % phases.length]!;
        const run = new Run(field, `${interruption}-${phase.name}`, call);
        const { workflowId } = run;
        const { hold } = phase;
        if (hold) holds.push({ ...hold, work: { workflowId, activity: call.activity } });
        const isHeld = () => held.reached().includes(workflowId);
        points.push({ run, phase, interruption, isReached: hold ? isHeld : holdAnswer(run) });
      }
  const runs = points.map(({ run }) => run);
  const held = holding(system, holds);
  const env = { ...noPort, ...unhurried, ...held.env };
  const worker = await startRoleOf(system, "worker", env);
  let replacement: Role | undefined;
  try {
    await reach(points);
    await checkReached(system, points);
    const now = Date.now();
    for (const run of runs) run.interruptedAt = now;
    const takeOver = async () => {
      replacement = await startRoleOf(system, "worker", noPort);
      for (const run of runs) run.replacementAt = Date.now();
    };
    if (points.some(({ interruption }) => interruption === "splitBrain")) {
      process.kill(worker.pid, "SIGSTOP");
      await takeOver();
      await takenOver(system, runs);
      for (const signal of ["SIGUSR2", "SIGCONT"]) process.kill(worker.pid, signal);
      const behind = () => held.reached().filter((id) => !held.passed().includes(id));
      const what = () => `the first owner has gone on with ${behind().join(", ")}`;
      await eventually(what, () => behind().length === 0, LIMIT_MS);
    } else {
      await killAndStartAgain(system, points, worker, takeOver);
    }
    await Promise.allSettled(runs.map((run) => run.answered()));
    await settle(runs);
    const rows = points.map(({ run, phase, interruption }) =>
      run.row(`${phase.name}, ${interruption}`),
    );
    return await Promise.all(rows);
  } finally {
    await worker.kill();
    await replacement?.stop();
  }
}

/** The updates of a reset process are applied again at once; who starts one again asks when the lease is over. */
async function killAndStartAgain(
  system: TestStack,
  points: Point[],
  worker: Role,
  takeOver: () => Promise<void>,
): Promise<void> {
  const runsOf = (wanted: Interruption) =>
    points.flatMap(({ run, interruption }) => (interruption === wanted ? [run] : []));
  const [terminated, backwards] = [runsOf("terminated"), runsOf("reset")];
  await Promise.all(terminated.map((run) => run.workflow.terminate("crash point")));
  await Promise.all(
    backwards.map(async ({ workflowId }) => {
      const last = (await tasksOf(system.client, workflowId)).at(-1);
      await reset(system.client, { workflowId }, last!);
    }),
  );
  await worker.kill();
  await takeOver();
  for (const run of backwards) run.ask();
  await Promise.all(
    terminated.map(async (run) => {
      await run.start();
      await run.tracked();
      await leasesOver(system, terminated);
      run.ask();
    }),
  );
}

/** Says whether the provider has come to the point of answering. */
function holdAnswer({ field: { sandbox }, call, id }: Run): () => boolean {
  const { faults } = sandbox;
  const fault = { operation: call.sandbox, kind: "slow-answer", lookupKey: id } as const;
  const { id: rule } = faults.add({ ...fault, ms: ANSWER_HELD_MS });
  return () => faults.list().some((one) => one.id === rule && one.fired > 0);
}

/** First the calls that reach their point by themselves; last the updates, because an answer does not wait for long. */
async function reach(points: Point[]): Promise<void> {
  const isSubmit = ({ run: { call } }: Point) => call.operation === "submit";
  const later = points.filter((point) => !isSubmit(point));
  await Promise.all(later.map(({ run }) => run.start()));
  await Promise.all(later.map(({ run }) => run.tracked()));
  // By then a first change shows in a query.
  await later[0]?.run.field.sandbox.clock.advance(3_600_000);
  await allReached(later.filter(({ run: { call } }) => !call.ask));
  const submits = points.filter(isSubmit);
  await Promise.all(submits.map(({ run }) => run.start()));
  await allReached(submits);
  for (const { run } of later) run.ask();
  await allReached(later);
}

async function allReached(points: Point[]): Promise<void> {
  const missing = () => points.flatMap((point) => (point.isReached() ? [] : [point.run.id]));
  const what = () => `these are reached: ${missing().join(", ")}`;
  await eventually(what, () => missing().length === 0, LIMIT_MS);
}

/** Tells the state of the row of a run's call; undefined where there is none. */
async function journalStates({ pool }: TestStack) {
  const sql =
    "select workflow_id || ' ' || step as key, state from trustflow.effects order by seq desc";
  const { rows } = await pool.query<{ key: string; state: string }>(sql);
  const states = new Map(rows.map(({ key, state }) => [key, state]));
  return ({ workflowId, call: { activity } }: Run) => states.get(`${workflowId} ${activity}`);
}

/** Every process must stand where its point says, else nothing is proven. */
async function checkReached(system: TestStack, points: Point[]): Promise<void> {
  const stateOf = await journalStates(system);
  const wrong = points.filter(
    ({ run, phase }) => phase.state !== undefined && stateOf(run) !== phase.state,
  );
  if (wrong.length === 0) return;
  throw new Error(`not at their point: ${wrong.map(({ run }) => run.id).join(", ")}`);
}

/** No sender of theirs may still be active. */
async function leasesOver({ pool }: TestStack, runs: Run[]): Promise<void> {
  const sql = `select from trustflow.effects
    where workflow_id = any($1) and state = 'sending' and lease_until > clock_timestamp() limit 1`;
  const ids = runs.map(({ workflowId }) => workflowId);
  const areOver = async () => (await pool.query(sql, [ids])).rowCount === 0;
  await eventually("the leases are over", areOver, LIMIT_MS);
}

/** Another worker has brought every call to its answer, or has told that it cannot: a caller, or by the end of the lease. */
async function takenOver(system: TestStack, runs: Run[]): Promise<void> {
  await Promise.allSettled(runs.map((run) => run.answered()));
  await leasesOver(system, runs);
  const submits = runs.filter(({ call }) => call.operation === "submit");
  const areAnswered = async () => {
    const stateOf = await journalStates(system);
    return submits.every((run) => stateOf(run) === "answered");
  };
  await eventually("another worker has taken over", areAnswered, LIMIT_MS);
}
