// Processes in every kind of wait receive status queries all the time, while the worker is stopped and killed at random.
import { QueryNotRegisteredError } from "@temporalio/client";
import pLimit from "p-limit";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AnyHandle } from "../../../src/client/processes.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { queryTooEarly } from "../../../src/contracts/shared/messages.js";
import { brought } from "../../processes/index.js";
import { logTail } from "../../../packages/dev/src/processes/child.js";
import { problems as workerProblems } from "../../../src/temporal/worker-watch.js";
import { deniedAccount } from "../../processes/waits.js";
import { startRoleOf } from "../outages/roles.js";
import { examine } from "./histories.js";
import { isUnanswered } from "../outages/wait.js";
import { act, denyAccess } from "./persons.js";
import type { TestStack } from "../stack/stack.js";

export interface Storm {
  name: string;
  stickySeconds: number;
  cachedProcesses: number;
  processes: number;
  /** How many are open at a time. */
  atOnce: number;
  /** Each process that persons hold open sees so many restarts. */
  restartsEach: number;
}

export type StormReport = Awaited<ReturnType<typeof runStorm>>;

/** Every kind of wait of every process. */
export const waits = Object.entries(brought).flatMap(([name, { waits: of }]) =>
  of.waits.map((wait) => ({ processName: name as ProcessName, wait })),
);

/** How long after the last restart a process may still be open. */
const END_LIMIT_MS = 300_000;
const RESTART_LIMIT_MS = 60_000;
const SIGNALS = ["SIGKILL", "SIGTERM"] as const;

export async function runStorm(system: TestStack, storm: Storm) {
  const began = Date.now();
  const restarts: string[] = [];
  const workflowIds: string[] = [];
  /** `tooEarly`: the guard refused it; `unanswered`: no worker answered in time. Our client asks again by itself, which is not counted. */
  const counts = { asked: 0, tooEarly: 0, unanswered: 0 };
  const ends: Record<string, number> = {};
  const stuck: string[] = [];
  const problems = new Set<string>();
  /** Why the worker ended by itself, each time (docs/upstream/frozen-worker.md). */
  const frozen: string[] = [];
  const denied = new Set<string>();
  /** For each code of which the holder could not know whether the provider took it, the id of its process. */
  const inDoubt: string[] = [];
  const numbers = Array.from({ length: storm.processes }, (_, index) => index);
  /** Processes that have not yet seen their restarts, those to be started included. */
  const unseen = new Set(numbers);
  let open = 0;
  let answered = 0;
  let isCalm = false;

  const env = {
    TRUSTFLOW_WORKER__STICKY_SECONDS: String(storm.stickySeconds),
    TRUSTFLOW_WORKER__CACHED_PROCESSES: String(storm.cachedProcesses),
  };
  const oneByOne = pLimit(1);
  const worker = await startRoleOf(system, "worker", env, {
    graceMs: RESTART_LIMIT_MS,
    onDeath: (_, { code, signal }) => void oneByOne(() => startAgain(signal ?? code)),
  });

  /** What an orchestrator does when the worker has found that it does no more work. Any other end is a fault. */
  async function startAgain(exit: NodeJS.Signals | number | null): Promise<void> {
    const said = lastProblemOf(
      await logTail(join(system.stack.directory, "logs", "worker.log"), 50),
    );
    if (exit === 1 && said !== undefined) frozen.push(said);
    else problems.add(`the worker ended (${exit})`);
    if (!worker.isAlive()) await worker.restart();
  }

  async function restartAtRandom(): Promise<void> {
    while (unseen.size > 0) {
      const before = answered;
      await delay(500 + Math.random() * 2_500);
      // A busy machine gets as much done between two restarts as a quiet one.
      while (answered - before < open && unseen.size > 0) await delay(50);
      const signal = SIGNALS[restarts.length % SIGNALS.length] ?? "SIGKILL";
      await oneByOne(async () => {
        await (signal === "SIGKILL" ? worker.kill(signal) : worker.stop());
        await delay(Math.random() * 2_500);
        await worker.restart();
      });
      restarts.push(signal);
    }
  }

  async function query(ask: () => Promise<unknown>): Promise<void> {
    counts.asked += 1;
    try {
      await ask();
      answered += 1;
    } catch (error) {
      if (error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly))
        counts.tooEarly += 1;
      else if (isUnanswered(error)) counts.unanswered += 1;
      else throw error;
    }
  }

  /** From its start to its end, with all who ask it and act on it. */
  async function live(number: number): Promise<void> {
    const { processName: name, wait } = waits[number % waits.length] as (typeof waits)[number];
    const id = `${storm.name}-${number}-${wait.name}`;
    const startedAt = restarts.length;
    if (wait.name.endsWith(deniedAccount)) await denyAccess(system);
    const handle: AnyHandle = await system.client.start(name, id, wait.input(id));
    const { workflowId } = handle;
    const workflow = system.client.temporal.workflow.getHandle(workflowId);
    workflowIds.push(workflowId);
    open += 1;
    let isOver = false;
    const hasSeen = () => restarts.length - startedAt >= storm.restartsEach;
    /** Again and again, `pauseMs` apart on average, until it is over. */
    const again = async (pauseMs: number, turn: () => Promise<void>) => {
      while (!isOver) {
        await delay(Math.random() * 2 * pauseMs);
        await turn().catch((error: unknown) => problems.add(wordsOf(error)));
      }
    };
    const others = [
      again(300, () =>
        query(async () => {
          const { attention } = await handle.status();
          if (attention?.kind === "accessDenied") denied.add(wait.name);
        }),
      ),
      // What the Web UI asks when an operator opens the page of a process.
      again(300, () => query(() => workflow.query("__temporal_workflow_metadata"))),
      again(500, () => {
        if (hasSeen()) unseen.delete(number);
        const isEnding = wait.kind === "hurried" || (wait.kind === "held" && hasSeen());
        return act({ system, name, wait, handle, isEnding, onDoubt: () => inDoubt.push(id) });
      }),
    ];
    /** Resolves long after the last restart. */
    const late = async (): Promise<undefined> => {
      while (!isCalm && !isOver) await delay(1_000);
      for (const end = Date.now() + END_LIMIT_MS; Date.now() < end && !isOver;) await delay(1_000);
    };
    const end = await Promise.race([endOf(handle), late()]);
    isOver = true;
    unseen.delete(number);
    open -= 1;
    if (end === undefined) stuck.push(workflowId);
    else {
      ends[end] = (ends[end] ?? 0) + 1;
      // What a killed worker left without an answer may be given up.
      if (![wait.ends, "AbandonedError"].includes(end))
        problems.add(`${workflowId} ended as ${end}`);
    }
    await Promise.all(others);
  }

  try {
    const lives = pLimit(storm.atOnce).map(numbers, live);
    await restartAtRandom();
    isCalm = true;
    await lives;
    const count = (wanted: string) => restarts.filter((signal) => signal === wanted).length;
    return {
      processes: workflowIds.length,
      restarts: { SIGTERM: count("SIGTERM"), SIGKILL: count("SIGKILL") },
      ...counts,
      ends,
      stuck,
      problems: [...problems],
      frozen,
      denied: [...denied],
      inDoubt,
      ...(await examine(system, workflowIds)),
      seconds: Math.round((Date.now() - began) / 1_000),
    };
  } finally {
    await worker.stop();
  }
}

/** Why the worker says that it ends, if its log says so at its end. */
function lastProblemOf(log: string): string | undefined {
  return Object.values(workerProblems).find((problem) => log.includes(`"problem":"${problem}"`));
}

/** The outcome, or the name of the error. */
function endOf(handle: AnyHandle): Promise<string> {
  return (handle.result() as Promise<{ outcome: string }>).then(
    ({ outcome }) => outcome,
    (error: unknown) => (error instanceof Error ? error.constructor.name : String(error)),
  );
}

function wordsOf(error: unknown): string {
  const { cause } = error as { cause?: Error };
  return cause ? `${String(error)}: ${cause.message}` : String(error);
}
