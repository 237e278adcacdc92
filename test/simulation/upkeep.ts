// What operators do to a running system, with the code of their commands: the clean-up. Each command is a program of its own.
import { setTimeout as delay } from "node:timers/promises";
import { retain, withOwnTemporal } from "../../src/cli/upkeep/cleanup.js";
import type { OwnTemporal } from "../../src/cli/upkeep/cleanup.js";
import { repairStuck } from "../../src/cleanup/repair.js";
import type { Stage } from "./stage.js";
import { familiesOpen, problemsOfDocuments, storedOf } from "./stored.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Of a command, while faults last. */
const MOST_TRIES = 40;

/** By then the short periods of a retention are over. */
const DAILY_MS = 10 * DAY_MS;

/** Every day from now on, and later every week, for so long. */
export async function cleanUpOften(stage: Stage, forMs: number): Promise<void> {
  const { world } = stage;
  for (const began = world.now; ;) {
    await cleanUpOnce(stage);
    const pause = world.now < began + DAILY_MS ? DAY_MS : 7 * DAY_MS;
    if (world.now + pause > began + forMs) return;
    await delay(pause);
  }
}

/** Nothing of a process that is open before and after may be gone. */
export async function cleanUpOnce(stage: Stage): Promise<void> {
  const { checks, database, files, system, say } = stage;
  const open = familiesOpen(system.temporal);
  const before = await whenQuiet(stage, () => storedOf(database, files, open));
  const report = await asCommand(stage, "cleanup", cleanUpWith);
  if (!report) return;
  const deleted = Object.entries({ ...report, ...report.documents }).filter(
    ([, count]) => typeof count === "number" && count > 0,
  );
  if (deleted.length > 0)
    say(`the clean-up: ${deleted.map(([name, count]) => `${name} ${count as number}`).join(", ")}`);
  const still = familiesOpen(system.temporal);
  const after = await whenQuiet(stage, () => storedOf(database, files, open));
  checks.count("openKept");
  for (const [thing, workflowId] of before)
    if (still.has(workflowId) && !after.has(thing))
      checks.violate("openKept", `the clean-up has deleted ${thing} of ${workflowId}`);
  if (report.documents.skipped !== undefined) return;
  checks.count("documents");
  for (const problem of await whenQuiet(stage, () =>
    problemsOfDocuments(database, files, {
      before: stage.world.now - DAY_MS,
      retention: report.retention,
    }),
  ))
    checks.violate("documents", problem);
}

/** As `trustflow cleanup` does it; a process that is stuck is a failure here. */
async function cleanUpWith(own: OwnTemporal) {
  const { temporal, config } = own;
  const { repaired, left } = await repairStuck({
    ...{ client: temporal.client, withoutRetries: temporal.connection },
    mayReset: () => Promise.resolve(true),
    afterSeconds: config.stuck.repairAfterSeconds,
    replay: () => Promise.reject(new Error("nothing gets stuck in the simulation")),
  });
  if (repaired.length + left.length > 0)
    throw new Error(`stuck: ${[...repaired, ...left.map(({ id }) => id)].join(", ")}`);
  const report = await retain(own, {});
  const expired = Object.values(report.expired).reduce((sum, count) => sum + count, 0);
  return { ...report, expired, retention: config.retention };
}

/** Tried again until what it needs can be reached; undefined, and a violation, if it never succeeds. */
export async function asCommand<T>(
  stage: Stage,
  name: string,
  work: (own: OwnTemporal) => Promise<T>,
): Promise<T | undefined> {
  const { world, idle, checks } = stage;
  for (let tries = 1; ; tries += 1) {
    const program = world.program(name);
    try {
      let result: { value: T } | undefined;
      const run = () => withOwnTemporal(async (own) => void (result = { value: await work(own) }));
      await idle.during(program.run(run));
      return result!.value;
    } catch (error) {
      world.trace("command", name, (error as Error).message);
      if (tries === MOST_TRIES) {
        checks.violate("unhandled", `${name} fails again and again: ${(error as Error).stack}`);
        return undefined;
      }
    } finally {
      program.kill();
    }
    await delay(15 * MINUTE_MS);
  }
}

/** No transaction is open then. */
export async function whenQuiet<T>({ database }: Stage, look: () => Promise<T>): Promise<T> {
  while (database.isBusy) await delay(5);
  return look();
}
