// Many open letters, a worker that holds few of them in its memory, and a dashboard that asks for the status of all of them, while
// the worker is restarted twice: what is lost, how long an answer takes, and what asking costs the worker (decision 35).
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessHandle } from "../../src/client.js";
import { alone, atMost, compared } from "../measure.js";
import type { Measure } from "../measure.js";
import { cpuMs, residentBytes } from "../proc.js";
import { sidesOf } from "../sides.js";
import type { Bench, Side } from "../sides.js";
import { quantile } from "../spread.js";
import { startStand } from "../stand.js";
import { hold } from "./waiting.js";

export interface WatchSizes {
  open: number;
  cached: number;
  questionsPerSecond: number;
  /** The callbacks of all letters begin within this time. */
  spreadSeconds: number;
}

const RESTARTS = 2;
const GAP_MS = 3_000;
/** So much longer than the callbacks take may a letter be open. */
const END_LIMIT_MS = 300_000;

interface Round {
  workerCpuMs: number;
  open: number;
  /** How long each answer took, in milliseconds. */
  answers: number[];
  /** Why, of each question without an answer. */
  unanswered: string[];
  /** How long Temporal's own description took, asked beside each tenth question, in milliseconds: what no status can be faster than. */
  looks: number[];
  megabytes: number;
}

export async function measureWatching({
  quick,
  say,
  watching = {},
}: Pick<Bench, "quick" | "say"> & { watching?: Partial<WatchSizes> }): Promise<Measure[]> {
  const sizes: WatchSizes = {
    ...(quick
      ? { open: 200, cached: 10, questionsPerSecond: 100, spreadSeconds: 30 }
      : { open: 2_000, cached: 100, questionsPerSecond: 100, spreadSeconds: 300 }),
    ...watching,
  };
  const stand = await startStand({ progress: say, cachedProcesses: sizes.cached });
  try {
    const bench: Bench = { stand, sides: sidesOf(stand), quick, say };
    const [, side] = bench.sides;
    // The first of the two rounds must not pay for what a worker does once; with `--quick` it does, so the CPU ratio is then too low.
    if (!quick)
      await liveThrough(bench, side, {
        ...sizes,
        open: 20,
        spreadSeconds: 5,
        questionsPerSecond: 0,
      });
    say(`watching: ${sizes.open} open letters, without questions`);
    const alike = await liveThrough(bench, side, { ...sizes, questionsPerSecond: 0 });
    say(`watching: ${sizes.open} open letters, ${sizes.questionsPerSecond} questions a second`);
    const asked = await liveThrough(bench, side, sizes);
    const { double } = await stand.provider.report();
    return [
      alone({ name: "watching-lost", unit: "letters that did not end", goal: atMost(0, "value") }, [
        alike.open + asked.open,
      ]),
      alone({ name: "watching-effects", unit: "second effects", goal: atMost(0, "value") }, [
        double,
      ]),
      alone(
        {
          name: "watching-unanswered",
          unit: `of ${asked.answers.length + asked.unanswered.length} questions`,
          goal: atMost(0, "value"),
        },
        [asked.unanswered.length],
      ),
      compared({ name: "watching-p50", unit: "ms to a status" }, [
        { floor: quantile(asked.looks, 0.5), trustflow: quantile(asked.answers, 0.5) },
      ]),
      compared({ name: "watching-p99", unit: "ms to a status", goal: atMost(100, "value") }, [
        { floor: quantile(asked.looks, 0.99), trustflow: quantile(asked.answers, 0.99) },
      ]),
      compared(
        {
          name: "watching-cpu",
          unit: "ms CPU of the worker a process",
          goal: atMost(1.1, "ratio"),
        },
        [
          {
            floor: alike.workerCpuMs / sizes.open,
            trustflow: asked.workerCpuMs / sizes.open,
          },
        ],
      ),
      alone({ name: "watching-memory", unit: "MB resident, the worker" }, [asked.megabytes]),
    ];
  } finally {
    await stand.close();
  }
}

async function liveThrough(
  bench: Bench,
  side: Side,
  { open: number, questionsPerSecond, spreadSeconds }: WatchSizes,
): Promise<Round> {
  const { stand, say } = bench;
  const worker = stand.stack.role("worker");
  const waiting = await hold(bench, side, number);
  const handles = waiting.ids.map((id) => stand.trustflow.handle(id as `sendPostal/${string}`));
  let isOver = false;
  const { workflowService, options } = stand.plain.workflow;
  const look = (workflowId: string) =>
    workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution: { workflowId },
    });
  const asking = ask(handles, questionsPerSecond, () => isOver, look);
  let cpuBefore = cpuMs(worker.pid);
  let used = 0;
  const plan = { mode: "spaced", gapMs: GAP_MS, spreadMs: spreadSeconds * 1_000 } as const;
  await stand.provider.release(plan);
  const restarts = (async () => {
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await delay((spreadSeconds * 1_000) / (RESTARTS + 1));
      used += cpuMs(worker.pid) - cpuBefore;
      await worker.restart();
      cpuBefore = cpuMs(worker.pid);
    }
  })();
  // Not by thousands of waits for a result: the server has a limit of long polls.
  const running = 'WorkflowType = "sendPostal" AND ExecutionStatus = "Running"';
  const limitAt = Date.now() + plan.spreadMs + 5 * GAP_MS + END_LIMIT_MS;
  let open = number;
  while (open > 0 && Date.now() < limitAt) {
    await delay(1_000);
    open = await stand.plain.workflow.count(running).then(
      ({ count }) => count,
      () => open,
    );
  }
  await restarts;
  isOver = true;
  const { answers, unanswered, looks } = await asking;
  used += cpuMs(worker.pid) - cpuBefore;
  const megabytes = residentBytes(worker.pid) / 1e6;
  say(`watching: ${open} still open, ${answers.length} answers`);
  if (unanswered.length > 0) say(`watching: no answer: ${[...new Set(unanswered)].join("; ")}`);
  return { workerCpuMs: used, open, answers, unanswered, looks, megabytes };
}

const CARRY_MS = 30_000;

/** What a worker with its default cache carries: its memory, and how long an answer takes, with so many open letters that wait. */
export async function measureOpen({
  quick,
  say,
}: Pick<Bench, "quick" | "say">): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const open of quick ? [100] : [100, 1_000, 10_000]) {
    say(`open: ${open} letters`);
    const stand = await startStand({ progress: say });
    try {
      const bench: Bench = { stand, sides: sidesOf(stand), quick, say };
      const worker = stand.stack.role("worker");
      const idle = residentBytes(worker.pid) / 1e6;
      const began = performance.now();
      const { ids } = await hold(bench, bench.sides[1], open);
      const rate = (open * 1_000) / (performance.now() - began);
      const handles = ids.map((id) => stand.trustflow.handle(id as `sendPostal/${string}`));
      const until = performance.now() + CARRY_MS;
      const before = cpuMs(worker.pid);
      const { answers, unanswered } = await ask(handles, 100, () => performance.now() > until);
      const load = (cpuMs(worker.pid) - before) / CARRY_MS;
      const memory = residentBytes(worker.pid) / 1e6;
      measures.push(
        alone(
          {
            name: `open-${open}-memory`,
            unit: `MB resident, the worker (${Math.round(idle)} before)`,
          },
          [memory],
        ),
        alone(
          {
            name: `open-${open}-p99`,
            unit: "ms to a status, 100 questions a second",
            goal: atMost(100, "value"),
          },
          [quantile(answers, 0.99)],
        ),
        alone({ name: `open-${open}-unanswered`, unit: "questions", goal: atMost(0, "value") }, [
          unanswered.length,
        ]),
        alone({ name: `open-${open}-load`, unit: "of a core, the worker, while it is asked" }, [
          load,
        ]),
        alone({ name: `open-${open}-starts`, unit: "starts a second" }, [rate]),
      );
    } finally {
      await stand.close();
    }
  }
  return measures;
}

const LOOK_EACH = 10;

/** Each question at its time, whether or not the one before has its answer. */
async function ask(
  handles: ProcessHandle<unknown>[],
  perSecond: number,
  isOver: () => boolean,
  look?: (workflowId: string) => Promise<unknown>,
): Promise<Pick<Round, "answers" | "unanswered" | "looks">> {
  const answers: number[] = [];
  const looks: number[] = [];
  const unanswered: string[] = [];
  if (perSecond === 0) return { answers, unanswered, looks };
  const asked: Promise<void>[] = [];
  const timed = async (to: number[], question: Promise<unknown>): Promise<void> => {
    const askedAt = performance.now();
    try {
      await question;
      to.push(performance.now() - askedAt);
    } catch (error) {
      unanswered.push(String(error).replace(/sendPostal\/\S+/, "ID"));
    }
  };
  const began = performance.now();
  for (let number = 0; !isOver(); number += 1) {
    await delay(began + (number * 1_000) / perSecond - performance.now());
    const handle = handles[Math.floor(Math.random() * handles.length)] as ProcessHandle<unknown>;
    asked.push(timed(answers, handle.status()));
    if (look && number % LOOK_EACH === 0) asked.push(timed(looks, look(handle.workflowId)));
  }
  await Promise.all(asked);
  return { answers, unanswered, looks };
}
