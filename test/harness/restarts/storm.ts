// Processes in every kind of wait receive status queries all the time, while the worker is stopped and killed at random.
import { QueryNotRegisteredError } from "@temporalio/client";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AnyHandle } from "../../../src/client/handles.js";
import { queryTooEarly } from "../../../src/contracts/shared/messages.js";
import { startRole } from "../../../src/local/stack/role.js";
import type { Role } from "../../../src/local/stack/role.js";
import { cleanEnv } from "../../../src/local/stack/stack-env.js";
import { examine } from "./histories.js";
import type { Examined } from "./histories.js";
import { act, denyAccess, isUnanswered } from "./persons.js";
import { deniedAccount, waits } from "./waits.js";
import type { Wait } from "./waits.js";
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
  signals?: readonly ("SIGTERM" | "SIGKILL")[];
  /** Between two restarts, at least. */
  uptimeMs?: number;
}

export interface Restart {
  signal: "SIGTERM" | "SIGKILL";
  at: number;
  readyAt: number;
}

export interface StormReport extends Examined {
  processes: number;
  restarts: Record<string, number>;
  asked: number;
  /** Queries that the guard refused; those of our client are asked again, and not counted. */
  tooEarly: number;
  /** Queries that no worker answered in time. */
  unanswered: number;
  ends: Record<string, number>;
  stuck: string[];
  problems: string[];
  /** For each code of which the holder could not know whether the provider took it, the id of its process. */
  inDoubt: string[];
  seconds: number;
}

/** How long after the last restart a process may still be open. */
const END_LIMIT_MS = 300_000;
const RESTART_LIMIT_MS = 60_000;

export async function runStorm(system: TestStack, storm: Storm): Promise<StormReport> {
  const running = new RunningStorm(system, storm);
  await running.startWorker();
  try {
    return await running.run();
  } finally {
    await running.stopWorker();
  }
}

class RunningStorm {
  readonly #system: TestStack;
  readonly #storm: Storm;
  #worker: Role | undefined;
  readonly #restarts: Restart[] = [];
  readonly #workflowIds: string[] = [];
  /** Processes that have not yet seen their restarts, those to be started included. */
  #unseen: number;
  #open = 0;
  #answered = 0;
  #isCalm = false;
  #counts = { asked: 0, tooEarly: 0, unanswered: 0 };
  readonly #ends: Record<string, number> = {};
  readonly #stuck: string[] = [];
  readonly #problems = new Set<string>();
  readonly #inDoubt: string[] = [];

  constructor(system: TestStack, storm: Storm) {
    this.#system = system;
    this.#storm = storm;
    this.#unseen = storm.processes;
  }

  async startWorker(): Promise<void> {
    const { stack } = this.#system;
    const { stickySeconds, cachedProcesses } = this.#storm;
    this.#worker = await startRole({
      name: "worker",
      env: {
        ...cleanEnv(),
        ...stack.envOf("worker"),
        TRUSTFLOW_WORKER__STICKY_SECONDS: String(stickySeconds),
        TRUSTFLOW_WORKER__CACHED_PROCESSES: String(cachedProcesses),
      },
      cwd: process.cwd(),
      logDirectory: join(stack.directory, "logs"),
      graceMs: RESTART_LIMIT_MS,
      onDeath: (_, { code, signal }) => this.#problem(`the worker ended (${signal ?? code})`),
    });
  }

  async stopWorker(): Promise<void> {
    await this.#worker?.stop();
  }

  async run(): Promise<StormReport> {
    const began = Date.now();
    const { name, processes, atOnce } = this.#storm;
    const numbers = Array.from({ length: processes }, (_, index) => index).values();
    const lane = async () => {
      for (const number of numbers) {
        const wait = waits[number % waits.length] as Wait;
        await this.#live(wait, `${name}-${number}-${wait.name}`);
      }
    };
    const lanes = Promise.all(Array.from({ length: atOnce }, lane));
    await this.#restartAtRandom();
    this.#isCalm = true;
    await lanes;
    const examined = await examine(this.#system, this.#workflowIds, this.#restarts);
    const count = (wanted: string) =>
      this.#restarts.filter(({ signal }) => signal === wanted).length;
    return {
      processes: this.#workflowIds.length,
      restarts: { SIGTERM: count("SIGTERM"), SIGKILL: count("SIGKILL") },
      ...this.#counts,
      ends: this.#ends,
      stuck: this.#stuck,
      problems: [...this.#problems],
      inDoubt: this.#inDoubt,
      ...examined,
      seconds: Math.round((Date.now() - began) / 1_000),
    };
  }

  async #restartAtRandom(): Promise<void> {
    const { signals = ["SIGKILL", "SIGTERM"], uptimeMs = 500 } = this.#storm;
    while (this.#unseen > 0) {
      const answered = this.#answered;
      await delay(uptimeMs + Math.random() * 2_500);
      // A busy machine gets as much done between two restarts as a quiet one.
      while (this.#answered - answered < this.#open && this.#unseen > 0) await delay(50);
      const signal = signals[this.#restarts.length % signals.length] ?? "SIGKILL";
      const at = Date.now();
      await (signal === "SIGKILL" ? this.#worker?.kill(signal) : this.#worker?.stop());
      await delay(Math.random() * 2_500);
      await this.#worker?.restart();
      this.#restarts.push({ signal, at, readyAt: Date.now() });
    }
  }

  /** From its start to its end, with all who ask it and act on it. */
  async #live(wait: Wait, id: string): Promise<void> {
    const { restartsEach } = this.#storm;
    const system = this.#system;
    const startedAt = this.#restarts.length;
    if (wait.name.endsWith(deniedAccount)) await denyAccess(system);
    const handle = await wait.start(system.client, id);
    this.#workflowIds.push(handle.workflowId);
    this.#open += 1;
    let isOver = false;
    let isSeen = false;
    const hasSeen = () => this.#restarts.length - startedAt >= restartsEach;
    const see = () => {
      if (!isSeen) this.#unseen -= 1;
      isSeen = true;
    };
    const others = [
      this.#ask(
        () => isOver,
        300,
        () => this.#askClient(handle),
      ),
      this.#ask(
        () => isOver,
        300,
        () => this.#askWebUi(handle),
      ),
      this.#ask(
        () => isOver,
        500,
        async () => {
          if (hasSeen()) see();
          const isEnding = wait.kind === "hurried" || (wait.kind === "held" && hasSeen());
          await act({ system, wait, handle, isEnding, onDoubt: () => this.#inDoubt.push(id) });
        },
      ),
    ];
    const end = await Promise.race([endOf(handle), this.#late(() => isOver)]);
    isOver = true;
    see();
    this.#open -= 1;
    if (end === undefined) this.#stuck.push(handle.workflowId);
    else {
      this.#ends[end] = (this.#ends[end] ?? 0) + 1;
      // What a killed worker left without an answer may be given up.
      if (![...wait.ends, "AbandonedError"].includes(end))
        this.#problem(`${handle.workflowId} ended as ${end}`);
    }
    await Promise.all(others);
  }

  /** Resolves long after the last restart. */
  async #late(isOver: () => boolean): Promise<undefined> {
    while (!this.#isCalm && !isOver()) await delay(1_000);
    for (const end = Date.now() + END_LIMIT_MS; Date.now() < end && !isOver();) await delay(1_000);
  }

  /** Again and again, `pauseMs` apart on average, until it is over. */
  async #ask(isOver: () => boolean, pauseMs: number, question: () => Promise<void>): Promise<void> {
    while (!isOver()) {
      await delay(Math.random() * 2 * pauseMs);
      try {
        await question();
      } catch (error) {
        this.#problem(wordsOf(error));
      }
    }
  }

  async #askClient(handle: AnyHandle): Promise<void> {
    await this.#query(() => handle.status());
  }

  /** The queries of the Web UI when a person opens the page of a process. */
  async #askWebUi({ workflowId }: AnyHandle): Promise<void> {
    const { workflow } = this.#system.client.temporal;
    await this.#query(() => workflow.getHandle(workflowId).query("__temporal_workflow_metadata"));
  }

  async #query(ask: () => Promise<unknown>): Promise<void> {
    this.#counts.asked += 1;
    try {
      await ask();
      this.#answered += 1;
    } catch (error) {
      if (error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly))
        this.#counts.tooEarly += 1;
      else if (isUnanswered(error)) this.#counts.unanswered += 1;
      else throw error;
    }
  }

  #problem(text: string): void {
    this.#problems.add(text);
  }
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
