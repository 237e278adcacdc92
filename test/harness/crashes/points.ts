// Crash-point enumeration: every call of a process × every phase of it × every interruption, generated from the descriptor.
// The processes of all points are brought to their points in one worker, which is then interrupted once.
import type { Role } from "../../../packages/dev/src/stack/role.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { CrashRow } from "./matrix.js";
import { journalStates, leasesOver, takenOver } from "./journal.js";
import { resetToLastTask } from "./resets.js";
import { callsIn, Run, settle, until, type Field } from "./run.js";
import { holding, startRoleOf, type Hold, type HoldPoint } from "../outages/roles.js";
import { timeouts, type TestStack } from "../stack/stack.js";
import type { CallUnderTest, ProcessUnderTest } from "../../processes/process-under-test.js";

/**
 * `killed`: the worker, by SIGKILL. `terminated`: also the process, which is then started again with its id. `reset`: also
 * the process, to a point before the work in progress. `splitBrain`: the worker is frozen (SIGSTOP) until a replacement has
 * taken over, then continues.
 */
export type Interruption = "killed" | "terminated" | "reset" | "splitBrain";

export interface Phase {
  name: string;
  /** Without one, the provider's answer is held back after its commit. */
  hold?: HoldPoint;
  /** What the journal's row has to say then. */
  state?: string;
}

const take = "insert into trustflow\\.effects|set state = 'sending'";
const answer = "set state = 'answered'";
const journaled: Phase[] = [
  { name: "beforeSending", hold: { when: "after", statement: take }, state: "sending" },
  { name: "beforeRequest", hold: { when: "beforeRequest", since: take }, state: "sending" },
  { name: "afterCommit", state: "sending" },
  { name: "beforeJournal", hold: { when: "before", statement: answer }, state: "sending" },
  { name: "beforeTemporal", hold: { when: "after", statement: answer }, state: "answered" },
];
const firstRead: Phase[] = [
  { name: "beforeSending", hold: { when: "beforeRequest" } },
  { name: "afterCommit" },
];
const laterRead: Phase[] = [{ name: "afterCommit" }];

/** Before the second read of an activity lies the answer to its first. */
export function phasesOf({ calls }: ProcessUnderTest, call: CallUnderTest): Phase[] {
  if (call.effectClass !== "read") return journaled;
  return calls.find(({ activity }) => activity === call.activity) === call ? firstRead : laterRead;
}

/** Behind the phase, where the account's look-up does not find our items. */
export const blindPhase = ", not found by look-ups";

const named = (interruption: Interruption) =>
  interruption === "killed" ? "" : `, ${interruption}`;

interface PointRun {
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

export async function interruptedRows(
  system: TestStack,
  field: Field,
  env: Record<string, string>,
  interruptions: Interruption[],
  meanwhile: () => Promise<CrashRow[]> = async () => [],
): Promise<CrashRow[]> {
  if (callsIn(field).length === 0) return [];
  const holds: Hold[] = [];
  const points: PointRun[] = [];
  for (const interruption of interruptions) {
    for (const call of callsIn(field)) {
      for (const phase of phasesOf(field.underTest, call)) {
        const name = [field.account, interruption, call.operation, phase.name].filter(Boolean);
        const run = new Run(field, name.join("-"), call);
        const { callerId: workflowId } = run;
        const { hold } = phase;
        if (hold) holds.push({ ...hold, work: { workflowId, activity: call.activity } });
        const isHeld = () => held.reached().includes(workflowId);
        const isReached = hold ? isHeld : holdAnswer(field.sandbox, run);
        points.push({ run, phase, interruption, isReached });
      }
    }
  }
  const runs = points.map(({ run }) => run);
  const held = holding(system, holds);
  const worker = await startRoleOf(system, "worker", {
    ...noPort,
    ...env,
    ...unhurried,
    ...held.env,
  });
  let replacement: Role | undefined;
  try {
    await reach(points);
    await checkReached(system, field, points);
    const now = Date.now();
    for (const run of runs) run.interruptedAt = now;
    const takeOver = async () => {
      replacement = await startRoleOf(system, "worker", { ...noPort, ...env });
      for (const run of runs) run.replacementAt = Date.now();
    };
    if (interruptions.includes("splitBrain")) {
      process.kill(worker.pid, "SIGSTOP");
      await takeOver();
      await takenOver(system, field, runs);
      for (const signal of ["SIGUSR2", "SIGCONT"]) process.kill(worker.pid, signal);
      const behind = () => held.reached().filter((id) => !held.passed().includes(id));
      await until(
        () => `the first owner has gone on with ${behind().join(", ")}`,
        () => behind().length === 0,
      );
    } else {
      await killAndStartAgain(system, field, points, worker, takeOver);
    }
    const more = meanwhile();
    await Promise.allSettled(runs.map((run) => run.answered()));
    await settle(runs);
    const rows = points.map(({ run, phase, interruption }) =>
      run.row(`${phase.name}${field.isBlind ? blindPhase : ""}${named(interruption)}`),
    );
    return [...(await Promise.all(rows)), ...(await more)];
  } catch (error) {
    await Promise.all(runs.map((run) => run.abandon()));
    throw error;
  } finally {
    await worker.kill();
    await replacement?.stop();
  }
}

/** The updates of a reset process are applied again at once; who starts one again asks when the lease is over. */
async function killAndStartAgain(
  system: TestStack,
  field: Field,
  points: PointRun[],
  worker: Role,
  takeOver: () => Promise<void>,
): Promise<void> {
  const runsOf = (wanted: Interruption) =>
    points.flatMap(({ run, interruption }) => (interruption === wanted ? [run] : []));
  const terminated = runsOf("terminated");
  const reset = runsOf("reset");
  await Promise.all(terminated.map((run) => run.terminate()));
  await Promise.all(reset.map(resetToLastTask));
  await worker.kill();
  await takeOver();
  for (const run of reset) run.ask();
  await Promise.all(
    terminated.map(async (run) => {
      await run.start();
      await run.tracked();
      await leasesOver(system, field);
      run.ask();
    }),
  );
}

/** Says whether the provider has come to the point of answering. */
function holdAnswer({ faults }: Sandbox, { call, id }: Run): () => boolean {
  const fault = { operation: call.sandbox, kind: "slow-answer", lookupKey: id } as const;
  const { id: rule } = faults.add({ ...fault, ms: ANSWER_HELD_MS });
  return () => faults.list().some((one) => one.id === rule && one.fired > 0);
}

/** First the calls that reach their point by themselves; last the updates, because an answer does not wait for long. */
async function reach(points: PointRun[]): Promise<void> {
  const isLater = ({ run: { call } }: PointRun) =>
    call.ask || (call.effectClass === "read" && !call.isFirst);
  const early = points.filter(({ run: { call } }) => call.comesEarly);
  const later = points.filter((point) => isLater(point) && !early.includes(point));
  await Promise.all(later.map(({ run }) => run.start()));
  const { sandbox, underTest } = points[0]?.run.field ?? {};
  await Promise.all(later.map(({ run }) => run.tracked()));
  if (underTest?.firstChangeMs) await sandbox?.clock.advance(underTest.firstChangeMs);
  const asked = later.filter(({ run: { call } }) => call.ask);
  await allReached(later.filter(({ run: { call } }) => !call.ask));
  const first = points.filter((point) => !isLater(point) && !early.includes(point));
  for (const comesLate of [true, undefined]) {
    const next = first.filter(({ run: { call } }) => call.comesLate === comesLate);
    await Promise.all(next.map(({ run }) => run.start()));
    await allReached(next);
  }
  await Promise.all(early.map(({ run }) => run.start()));
  await allReached(early, async () => undefined);
  for (const { run } of asked) run.ask();
  await allReached(asked);
}

async function passTimeAndPlay(points: PointRun[]): Promise<void> {
  await points[0]?.run.passSetUp();
  const playing = points.filter(({ run: { call } }) => call.afterPlay);
  await Promise.allSettled(playing.map(({ run }) => run.play()));
}

function allReached(points: PointRun[], meanwhile = () => passTimeAndPlay(points)): Promise<void> {
  const missing = () => points.flatMap((point) => (point.isReached() ? [] : [point.run.id]));
  return until(
    () => `these are reached: ${missing().join(", ")}`,
    async () => {
      await meanwhile();
      return missing().length === 0;
    },
  );
}

/** Every process must stand where its point says, else nothing is proven. */
async function checkReached(system: TestStack, field: Field, points: PointRun[]): Promise<void> {
  const statesOf = await journalStates(system, field);
  const wrong = points.filter(
    ({ run, phase }) => phase.state !== undefined && !statesOf(run).includes(phase.state),
  );
  if (wrong.length === 0) return;
  throw new Error(`not at their point: ${wrong.map(({ run }) => run.id).join(", ")}`);
}
