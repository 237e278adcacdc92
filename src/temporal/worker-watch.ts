// Notices that the worker of the processes does no work although it runs, so that its role ends and is started again: SDK 1.24 can lose
// the places of its cache, and then polls no more (docs/upstream.md).
import type { NativeConnection } from "@temporalio/worker";
import { describeWorkflowQueue, pollsAtAllPartitions } from "./visibility/task-queue.js";
import type { WorkflowWorker } from "./workflow-worker.js";

/** The SDK's core logs it, at the level ERROR, when it loses an activation. */
const LOST_ACTIVATION = "Extra buffered run should not have produced an activation";
const LOOK_EVERY_MS = 15_000;
/** A task has ten seconds, so an activation that is in progress for a minute of looks will not end. */
const ACTIVATION_LOOKS = 4;
/** A poll lasts a minute. So seven looks without a new one mean that none came within 45 seconds after the last one ended. */
const UNSEEN_LOOKS = 7;
/** Three minutes of looks. A poll lasts a minute, and the server notes when each one begins. */
const POLL_LOOKS = 12;
/** Tasks that wait for so long are not being taken. */
const BACKLOG_MS = 60_000;

export const problems = {
  lost: "the SDK has lost a workflow activation",
  activation: "a workflow activation does not end",
  polls: "tasks wait, and the worker has not polled for them for minutes",
} as const;
export type Problem = (typeof problems)[keyof typeof problems];

/** Why a worker ends by itself. */
export class WorkerProblem extends Error {
  override readonly name = "WorkerProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`The worker does no more work: ${problem}`);
    this.problem = problem;
  }
}

const lost = new EventTarget();

/** Called with each line that the SDK logs. */
export function noteLine(message: string): void {
  if (message.includes(LOST_ACTIVATION)) lost.dispatchEvent(new Event("lost"));
}

type Watched = Pick<WorkflowWorker, "oldestActivation" | "getState" | "options">;

export interface WorkerWatchOptions {
  connection: Pick<NativeConnection, "workflowService">;
  namespace: string;
  everyMs?: number;
  activationLooks?: number;
  pollLooks?: number;
  unseenLooks?: number;
  backlogMs?: number;
}

export interface WorkerWatch {
  /** A sentence for the operator while the server notes no new poll of this worker. Waiting tasks do not matter here. */
  notSeen(): string | undefined;
  close(): void;
}

/**
 * Calls `onProblem` once. Looks are counted, and not the time between them: a machine that slept, or a clock that is wrong, says
 * nothing about the worker.
 */
export function watchWorker(
  worker: Watched,
  {
    connection,
    namespace,
    everyMs = LOOK_EVERY_MS,
    activationLooks = ACTIVATION_LOOKS,
    pollLooks = POLL_LOOKS,
    unseenLooks = UNSEEN_LOOKS,
    backlogMs = BACKLOG_MS,
  }: WorkerWatchOptions,
  onProblem: (problem: Problem) => void,
): WorkerWatch {
  const activation = new LooksWithoutChange<object>();
  const poll = new LooksWithoutChange<number>();
  const anywhere = new PollsAnywhere(worker, { connection, namespace });
  let isAsking = false;

  function look(): void {
    if (worker.getState() !== "RUNNING") return;
    const oldest = worker.oldestActivation;
    if (activation.looks(oldest) >= activationLooks && oldest) return found(problems.activation);
    // A question that is not answered yet is not asked again.
    if (isAsking) return;
    isAsking = true;
    askServer()
      .catch(() => undefined)
      .finally(() => (isAsking = false));
  }

  /**
   * An answer shows the polls at one partition of the queue, and a healthy worker may poll the others for a while: so it matters only
   * where tasks wait too.
   */
  async function askServer(): Promise<void> {
    const { taskQueue, identity } = worker.options;
    const where = { connection, namespace };
    const { polls, backlogAgeMs } = await describeWorkflowQueue(where, taskQueue);
    // A poll that the server has forgotten is no new one.
    const newest = newestOf(polls, identity) ?? poll.last;
    const hasPolled = newest !== undefined;
    const isLate = poll.looks(newest) >= pollLooks && backlogAgeMs >= backlogMs;
    if (hasPolled && isLate && worker.getState() === "RUNNING") found(problems.polls);
    await anywhere.look(poll.count === 0 ? newest : undefined);
  }

  const timer = setInterval(look, everyMs);
  const onLost = () => found(problems.lost);
  lost.addEventListener("lost", onLost);
  let isClosed = false;
  const close = () => {
    isClosed = true;
    clearInterval(timer);
    lost.removeEventListener("lost", onLost);
  };
  function found(problem: Problem): void {
    if (isClosed) return;
    close();
    onProblem(problem);
  }
  return { notSeen: () => anywhere.notSeen(unseenLooks), close };
}

/** The polls of a worker at all partitions of its queue, of which the root alone does not show those at the others. */
class PollsAnywhere {
  readonly #polls = new LooksWithoutChange<number>();
  readonly #ask: () => ReturnType<typeof pollsAtAllPartitions>;
  readonly #identity: string;

  constructor({ options }: Watched, where: Parameters<typeof pollsAtAllPartitions>[0]) {
    this.#ask = () => pollsAtAllPartitions(where, options.taskQueue);
    this.#identity = options.identity;
  }

  /** `known`: a new poll that the root shows, so that the others need not be asked. */
  async look(known: number | undefined): Promise<void> {
    const newest = known ?? newestOf(await this.#ask(), this.#identity);
    this.#polls.looks(newest ?? this.#polls.last);
  }

  notSeen(looks: number): string | undefined {
    if (this.#polls.count < looks) return undefined;
    return `Temporal has noted no new poll of this worker in ${this.#polls.count} looks.`;
  }
}

function newestOf(polls: { identity: string; atMs: number }[], identity: string) {
  const own = polls.filter((one) => one.identity === identity).map(({ atMs }) => atMs);
  return own.length > 0 ? Math.max(...own) : undefined;
}

/** In how many looks, one after the other, a value has not changed. */
class LooksWithoutChange<T> {
  last: T | undefined;
  count = 0;

  looks(value: T | undefined): number {
    this.count = value === this.last ? this.count + 1 : 0;
    this.last = value;
    return this.count;
  }
}
