// Mixed load over many kinds of processes at once: every path of their descriptors, callbacks lost, doubled and late, faults,
// second starts, updates and what persons do. Afterwards nothing may be left: no handle, no row that waits, no open process.
import { decodeOptionalFailureToOptionalError } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { childrenOf } from "../../../src/contracts/registry.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { eventually } from "../outages/wait.js";
import { processesUnderTest } from "../../processes/index.js";
import { callbackAddress } from "../stack/inbox.js";
import type { TestStack } from "../stack/stack.js";
import { auditTables, journalRows } from "./audit.js";
import { memory, openHandles, watchMemory, watchedRoles } from "./watch.js";
import { loadPathsOf, type LoadPath } from "./paths.js";

/** Of those that have begun, one ends in this time, however busy the machine is; else all are stuck. */
const END_MS = 150_000;
// Pools grow and shrink with the load; a handle for each process would be far more.
const HANDLE_SLACK = 12;
const SECOND = 1_000;
const DAY = 86_400_000;
const within = (least: number, most: number) =>
  processesUnderTest.filter(({ spanMs }) => spanMs > least && spanMs <= most);

/** All processes, each at a speed of the provider's clock that suits it. */
export const mixes = [
  // What a person enters has to be valid by the provider's clock.
  { of: "processes that end at once", underTests: within(0, SECOND), speed: 1 },
  // A call by video closes soon, and codes and tokens live long enough.
  { of: "processes that take minutes", underTests: within(SECOND, DAY), speed: 20 },
  // A cancellation still comes in time (the sandbox leaves 45 days for it) where the machine is busy for two minutes.
  { of: "processes that take weeks", underTests: within(DAY, Infinity), speed: 30_000 },
];

export type Mix = (typeof mixes)[number];

/** The sandbox's clock runs at the speed of the mix. */
export async function runMixedLoad(
  system: TestStack,
  { underTests }: Mix,
  {
    seconds,
    perSecond,
    progress = () => undefined,
  }: { seconds: number; perSecond: number; progress?: (line: string) => void },
) {
  const { sandbox } = system;
  const paths = underTests.flatMap(loadPathsOf);
  const problems: string[] = [];
  const outcomes: Record<string, number> = {};
  const intents = new Map<string, LoadPath>();
  const open = new Set<string>();
  const follow = async (id: string, path: LoadPath): Promise<void> => {
    intents.set(id, path);
    open.add(id);
    try {
      const outcome = await live(system, id, path);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome !== path.outcome) problems.push(`${id}: ${outcome}, not ${path.outcome}`);
    } catch (error) {
      problems.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
    open.delete(id);
  };
  const allEnded = async () => {
    while (open.size > 0) {
      const before = open.size;
      const isStuck = await eventually("one more has ended", () => open.size < before, END_MS).then(
        () => false,
        () => true,
      );
      if (!isStuck) continue;
      for (const id of open) {
        const workflowIds = processesOf(intents.get(id)!, id);
        problems.push(`${id}: has not ended: ${await standing(system, workflowIds)}`);
        await terminate(system, workflowIds);
      }
    }
  };

  const webhook = { provider: "one-shot-signature", account: "default" };
  await sandbox.putAccount("sandbox", { webhookUrl: callbackAddress(system, webhook) });
  progress("warming up");
  const first = new Map(paths.map((path) => [path, `warm-${path.name}`]));
  for (const [path, id] of first) void follow(id, path);
  await allEnded();
  if (problems.length > 0) throw new Error(problems.join("; "));
  const [before, memoryBefore] = [await openHandles(system), await memory(system)];
  const clock = Date.parse((await sandbox.clock()).now);
  const watch = watchMemory(system);
  const startedAt = Date.now();
  for (let number = 0; Date.now() < startedAt + seconds * 1_000; number += 1) {
    const path = paths[number % paths.length] as LoadPath;
    void follow(`mix-${number}-${path.name}`, path);
    if (number % 50 === 49) progress(`${number + 1} started`);
    await delay(startedAt + ((number + 1) * 1_000) / perSecond - Date.now());
  }
  progress("waiting for the ends");
  await allEnded();
  const virtualSeconds = (Date.parse((await sandbox.clock()).now) - clock) / 1_000;
  await watch.stop();

  await eventually("no process is open", () => isAllClosed(system), 15_000).catch((error: Error) =>
    problems.push(error.message),
  );
  const rowsOfFirst = new Map<LoadPath, number>();
  for (const [path, id] of first)
    rowsOfFirst.set(path, await journalRows(system, processesOf(path, id)));
  for (const [id, path] of intents) {
    const had = await system.effects(id);
    if (!isDeepStrictEqual(had, path.effects))
      problems.push(`${id}: effects ${JSON.stringify(had)}`);
    const rows = await journalRows(system, processesOf(path, id));
    const wanted = rowsOfFirst.get(path);
    if (rows !== wanted) problems.push(`${id}: ${rows} rows in the journal, not ${wanted}`);
  }
  const { duplicates, violations } = await sandbox.ledger();
  for (const { intent } of duplicates) problems.push(`${intent}: more than one effect`);
  for (const { kind } of violations) problems.push(`the sandbox noted ${kind}`);

  const all = [...intents].flatMap(([id, path]) => processesOf(path, id));
  const audit = await auditTables(system, { processes: all.length });
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
    processes: underTests.map(({ process: name }) => name),
    seconds,
    /** Of the provider's clock. */
    virtualSeconds: Math.round(virtualSeconds),
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

/** Starts the process twice, queries it, does what its persons do, and follows it to its end. */
async function live(
  { client, sandbox, stack }: TestStack,
  id: string,
  { underTest, call, fault }: LoadPath,
): Promise<string> {
  const { variant, ask, thenPlay } = call;
  if (fault) await sandbox.addFault({ ...fault, lookupKey: id });
  const handle = await underTest.start(client, id, variant);
  await underTest.start(client, id, variant);
  const scene = { sandboxUrl: stack.sandboxUrl, intent: id };
  if (ask) {
    await eventually(
      `${id} is tracked`,
      async () => (await handle.status()).phase !== "submitting",
      END_MS,
    );
    const { answer } = await ask(handle, "mix", scene);
    if (answer !== call.answer) throw new Error(`${id} was answered ${answer}`);
  }
  const ending = handle.result();
  let isOver = false;
  const over = () => (isOver = true);
  ending.then(over, over);
  if (!ask || thenPlay)
    for (; !isOver && underTest.play; await delay(250))
      // It may end meanwhile.
      await underTest.play(handle, scene).catch(() => undefined);
  return (await ending).outcome;
}

/** Where a process stands that has not ended: its status, and its activities with their last failures. */
async function standing({ client }: TestStack, [workflowId = ""]: string[]): Promise<string> {
  const { raw } = await client.temporal.workflow.getHandle(workflowId).describe();
  const { loadedDataConverter: converter } = client.temporal.options;
  const activities = await Promise.all(
    (raw.pendingActivities ?? []).map(async ({ activityType, attempt, lastFailure, state }) => {
      const error = await decodeOptionalFailureToOptionalError(converter, lastFailure);
      return { name: activityType?.name, attempt, state, failed: error?.message };
    }),
  );
  const status = await client
    .handle(workflowId as `${ProcessName}/${string}`)
    .status()
    .catch(String);
  return JSON.stringify({ status, activities, task: raw.pendingWorkflowTask });
}

/** Its process, and those that it may start. */
function processesOf({ underTest }: LoadPath, id: string): string[] {
  const workflowId = `${underTest.process}/${id}`;
  return [workflowId, ...childrenOf(workflowId)];
}

async function terminate({ client }: TestStack, workflowIds: string[]): Promise<void> {
  const handles = workflowIds.map((id) => client.temporal.workflow.getHandle(id));
  await Promise.allSettled(handles.map((handle) => handle.terminate("stuck")));
}

async function isAllClosed({ client }: TestStack): Promise<boolean> {
  const { count } = await client.temporal.workflow.count('ExecutionStatus = "Running"');
  return count === 0;
}
