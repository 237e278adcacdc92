// Mixed load over one kind of process for a while: every path of its descriptor, callbacks lost, doubled and late, faults,
// second starts and questions. Afterwards nothing may be left: no handle, no row that waits, no open process.
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { eventually } from "../outages/wait.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";
import { auditTables } from "./audit.js";
import { memory, openHandles, watchMemory, watchedRoles } from "./watch.js";
import { loadPathsOf, type LoadPath } from "./paths.js";

// Pools grow and shrink with the load; a handle for each process would be far more.
const HANDLE_SLACK = 12;
/** A cancellation still comes in time (the sandbox leaves 45 days for it) where the machine is busy for two minutes. */
const SPEED = 30_000;

export async function runMixedLoad(
  system: TestStack,
  underTest: ProcessUnderTest,
  {
    seconds,
    perSecond,
    progress = () => undefined,
  }: { seconds: number; perSecond: number; progress?: (line: string) => void },
) {
  const { sandbox } = system;
  const paths = loadPathsOf(underTest);
  const problems: string[] = [];
  const outcomes: Record<string, number> = {};
  const intents = new Map<string, Record<string, number>>();
  const follow = async (id: string, path: LoadPath): Promise<void> => {
    intents.set(id, path.effects);
    try {
      const outcome = await live(system, underTest, id, path);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome !== path.outcome) problems.push(`${id}: ${outcome}, not ${path.outcome}`);
    } catch (error) {
      problems.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  await sandbox.setSpeed(SPEED);
  progress("warming up");
  await Promise.all(paths.map((path, index) => follow(`warm-${index}-${path.name}`, path)));
  const [before, memoryBefore] = [await openHandles(system), await memory(system)];
  const clock = Date.parse((await sandbox.clock()).now);
  const watch = watchMemory(system);
  const startedAt = Date.now();
  const running: Promise<void>[] = [];
  for (let number = 0; Date.now() < startedAt + seconds * 1_000; number += 1) {
    const path = paths[number % paths.length] as LoadPath;
    running.push(follow(`mix-${number}-${path.name}`, path));
    if (number % 50 === 49) progress(`${number + 1} started`);
    await delay(startedAt + ((number + 1) * 1_000) / perSecond - Date.now());
  }
  progress("waiting for the ends");
  await Promise.all(running);
  const virtualHours = (Date.parse((await sandbox.clock()).now) - clock) / 3_600_000;
  await watch.stop();

  await eventually("no process is open", () => isAllClosed(system), 15_000).catch((error: Error) =>
    problems.push(error.message),
  );
  for (const [id, effects] of intents) {
    const had = await system.effects(id);
    if (!isDeepStrictEqual(had, effects)) problems.push(`${id}: effects ${JSON.stringify(had)}`);
  }
  const { duplicates, violations } = await sandbox.ledger();
  for (const { intent } of duplicates) problems.push(`${intent}: more than one effect`);
  for (const { kind } of violations) problems.push(`the sandbox noted ${kind}`);

  const expectedEffects = [...intents.values()].flatMap((effects) => Object.values(effects));
  const audit = await auditTables(system, {
    processes: intents.size,
    effects: expectedEffects.reduce((sum, count) => sum + count, 0),
  });
  problems.push(...audit.problems);
  let after = await openHandles(system);
  const grown = () =>
    watchedRoles.filter((role) => (after[role] ?? 0) > (before[role] ?? 0) + HANDLE_SLACK);
  // Idle connections are closed after half a minute.
  for (const end = Date.now() + 40_000; grown().length > 0 && Date.now() < end; await delay(500))
    after = await openHandles(system);
  for (const role of grown())
    problems.push(`${role}: ${after[role]} open handles after ${before[role]}`);
  return {
    process: underTest.process,
    seconds,
    /** Of the provider's clock. */
    virtualHours: Math.round(virtualHours),
    started: intents.size,
    outcomes,
    tables: audit.tables,
    handles: { before, after },
    /** MB. */
    memory: { before: memoryBefore, peak: watch.peaks, after: await memory(system) },
    /** What is not as it should be; none when all is well. */
    problems,
  };
}

/** Starts the process twice, queries it, gives it the input that its path needs, and follows it to its end. */
async function live(
  { client, stack }: TestStack,
  underTest: ProcessUnderTest,
  id: string,
  { variant, call }: LoadPath,
): Promise<string> {
  const handle = await underTest.start(client, id, variant);
  await underTest.start(client, id, variant);
  if (call?.ask) {
    const { ask, answer } = call;
    await eventually(
      `${id} is tracked`,
      async () => (await handle.status()).phase !== "submitting",
    );
    const given = await ask(handle, "mix", { sandboxUrl: stack.sandboxUrl, intent: id });
    if (given.answer !== answer) throw new Error(`${call.operation} was answered ${given.answer}`);
  }
  return (await handle.result()).outcome;
}

async function isAllClosed({ client }: TestStack): Promise<boolean> {
  const { count } = await client.temporal.workflow.count('ExecutionStatus = "Running"');
  return count === 0;
}
