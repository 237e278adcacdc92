// Runs a plan in a world: starts the system, lets processes begin and faults strike, waits until all has come to rest, and checks.
import { writeFileSync } from "node:fs";
import { Checks } from "./checks.js";
import { readLogs } from "./doors/log.js";
import { Idle } from "./idle.js";
import { strike } from "./faults.js";
import type { Doors, Stage } from "./stage.js";
import { Living, underTestOf } from "./life.js";
import { faultKinds } from "./plan.js";
import type { Fault, Life, Plan, Step } from "./plan.js";
import { secondsHere } from "./report.js";
import type { Report } from "./report.js";
import { startSystem } from "./system.js";
import type { System } from "./system.js";
import { removeWorld } from "./world.js";
import type { World } from "./world.js";

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/** So often it is looked at what is tried again. */
const LOOK_MS = 15 * 60_000;
/** Every process has ended so long after the last step: slow persons let each of several questions lie for weeks. */
const REST_MS = 400 * DAY_MS;

/** What relay and worker may find in the tables, now or later. */
const WORK = `
  select from trustflow.callbacks where state in ('waiting', 'unaddressed')
  union all select from trustflow.callback_addresses where wake_at is not null
  union all select from trustflow.unaddressed_tokens limit 1`;

export async function runPlan(plan: Plan, doors: Doors): Promise<Report> {
  const { world, database } = doors;
  const idle = new Idle(world);
  const story: Report["story"] = [];
  // For whoever watches a long one.
  const tells = process.env["SIMULATION_TELLS"] !== undefined;
  const say = (text: string) => {
    idle.touch();
    world.trace("story", text);
    const line = { at: new Date(world.now).toISOString(), text };
    story.push(line);
    if (tells) console.error(line.at, text);
  };
  const checks = new Checks(say);
  const unhandled = (error: unknown) =>
    checks.violate("unhandled", (error as Error | undefined)?.stack ?? String(error));
  process.on("unhandledRejection", unhandled);
  // The SDK throws what it cannot tell the run of.
  process.on("uncaughtException", unhandled);
  readLogs((program, text) => {
    checks.count("noSecret");
    checks.noSecretIn(`the log of the ${program}`, Buffer.from(text));
  });
  const system = await settle(
    world,
    startSystem(world, {
      directory: doors.files.root,
      databaseUrl: database.url,
      network: doors.network,
      isSlow: plan.steps.some((step) => "life" in step && step.isSlow),
      say,
      onEvent: (run, event) => {
        idle.touch();
        world.trace("event", run.id, Number(event.eventId), event.eventType!);
        checks.onEvent(run, event);
      },
      onNondeterminism: (run, problem) => checks.violate("deterministic", `${run.id}: ${problem}`),
    }),
  );
  checks.watch(system);
  idle.isAtWork = () => system.temporal.isAtWork;
  idle.asleep = () =>
    database.isBusy || database.hasRow(WORK)
      ? []
      : (["relay", "worker"] as const).filter((name) => system.roles[name].isUp);
  const application = world.program("application");
  const startedAt = world.now;
  const faults: Record<string, number> = {};
  const livings: Living[] = [];
  const stage: Stage = {
    ...{ ...doors, idle, system, checks, say, random: world.fork("faults") },
    persons: { areLate: false },
    ended: () =>
      livings.filter(({ outcome }) => outcome !== undefined).map(({ workflowId }) => workflowId),
  };
  const endOf = (step: Step) => step.at + ("forMs" in step ? step.forMs : 0);
  const lastAt = Math.max(0, ...plan.steps.map(endOf));
  const troubles = plan.steps.filter((step) => "fault" in step && faultKinds[step.fault] <= DAY_MS);
  const lastTroubleAt = Math.max(0, ...troubles.map(endOf));
  for (const step of plan.steps)
    application.run(() => world.after(step.at, () => ("life" in step ? begin(step) : hit(step))));

  function begin(life: Life): void {
    const living = new Living(life, {
      client: () => system.client,
      ...{ sandbox: system.sandbox, random: world.fork(`persons of ${life.life}`), say },
      change: (workflowId, ms) => changeOf(system, workflowId, ms),
      isLate: () => stage.persons.areLate,
    });
    livings.push(living);
    checks.know(living);
    living
      .live()
      .catch((error: Error) =>
        checks.violate("unhandled", `the persons of ${living.workflowId}: ${error.stack}`),
      );
  }

  function hit(fault: Fault): void {
    faults[fault.fault] = (faults[fault.fault] ?? 0) + 1;
    say(
      `fault: ${fault.fault}${fault.forMs > 0 ? ` for ${Math.ceil(fault.forMs / 1_000)} s` : ""}`,
    );
    strike(stage, fault);
  }

  const isOver = () =>
    world.now >= startedAt + lastAt &&
    livings.length === plan.steps.filter((step) => "life" in step).length &&
    livings.every(({ outcome }) => outcome !== undefined);
  idle.isAtRest = () =>
    livings.every(({ outcome }) => outcome !== undefined) &&
    system.temporal.everyRun.every(({ isOpen }) => !isOpen);
  const limit = startedAt + lastAt + REST_MS;
  let nextLook = world.now;
  while (!isOver() && world.now < limit && checks.violations.length === 0) {
    await idle.advance();
    if (world.steps % 1_000 === 0) process.send?.("alive");
    if (world.now >= nextLook) {
      nextLook = world.now + LOOK_MS;
      checks.lookAtTries(system, startedAt + lastTroubleAt);
    }
    if (checks.hasNews && !database.isBusy) await checks.look(database);
  }
  await idle.rest(10 * 60_000);
  if (checks.violations.length === 0) {
    for (const { workflowId, outcome, status } of livings)
      if (outcome === undefined)
        checks.violate(
          "ends",
          `nobody has heard how ${workflowId} ended: ${JSON.stringify(status)}`,
        );
    await world.runUntil(() => !database.isBusy);
    await checks.end(system, database, doors.files);
  }
  const { SIMULATION_TRACE: trace } = process.env;
  if (trace) writeFileSync(trace, world.log.join("\n"));
  const { hash } = world;
  const virtualYears = yearsOf(system, world.now);
  removeWorld();
  if (checks.violations.length === 0) await checks.replay(system);
  return {
    seed: plan.seed,
    hash,
    processes: system.temporal.everyRun.length,
    virtualYears,
    ...{
      faults,
      checks: checks.counts,
      outcomes: outcomesOf(livings),
      violations: checks.violations,
      story,
    },
    seconds: secondsHere(),
  };
}

async function settle<T>(world: World, promise: Promise<T>): Promise<T> {
  return world.settle(promise, { limitMs: 30 * 60_000 });
}

function changeOf({ temporal }: System, workflowId: string, ms: number): Promise<void> {
  const run = temporal.latest(workflowId);
  return run?.isOpen ? run.change(ms) : Promise.resolve();
}

function yearsOf({ temporal }: System, now: number): number {
  const lived = temporal.everyRun.reduce(
    (sum, { startedAt, closedAt }) => sum + (closedAt ?? now) - startedAt,
    0,
  );
  return lived / YEAR_MS;
}

function outcomesOf(livings: Living[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { life, outcome = "open" } of livings) {
    const { call } = underTestOf(life);
    const name = `${life.process} ${outcome}${outcome === call.outcome ? "" : ` (planned: ${call.outcome})`}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
