// Notices that the worker of the processes does no work although it runs, so that its role ends and is started again: SDK 1.24 can lose
// the places of its cache, and then polls no more (docs/upstream/frozen-worker.md).
import { Worker } from "@temporalio/worker";
import type { NativeConnection } from "@temporalio/worker";
import { describeWorkflowQueue } from "./visibility/task-queue.js";

/** The SDK's core logs it, at the level ERROR, when it loses an activation. */
const LOST_ACTIVATION = "Extra buffered run should not have produced an activation";
const LOOK_EVERY_MS = 15_000;
/** A task has ten seconds, so an activation that is in progress for a minute of looks will not end. */
const ACTIVATION_LOOKS = 4;
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

/** A worker that knows its activations in progress. */
export class WatchedWorker extends Worker {
  readonly #inProgress = new Set<object>();

  protected override async handleActivation(
    ...given: Parameters<Worker["handleActivation"]>
  ): ReturnType<Worker["handleActivation"]> {
    const activation = {};
    this.#inProgress.add(activation);
    try {
      return await super.handleActivation(...given);
    } finally {
      this.#inProgress.delete(activation);
    }
  }

  get oldestActivation(): object | undefined {
    const [oldest] = this.#inProgress;
    return oldest;
  }
}

const lost = new EventTarget();

/** Called with each line that the SDK logs. */
export function noteLine(message: string): void {
  if (message.includes(LOST_ACTIVATION)) lost.dispatchEvent(new Event("lost"));
}

type Watched = Pick<WatchedWorker, "oldestActivation" | "getState" | "options">;

export interface WorkerWatchOptions {
  connection: Pick<NativeConnection, "workflowService">;
  namespace: string;
  everyMs?: number;
  activationLooks?: number;
  pollLooks?: number;
  backlogMs?: number;
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
    backlogMs = BACKLOG_MS,
  }: WorkerWatchOptions,
  onProblem: (problem: Problem) => void,
): { close(): void } {
  const activation = new LooksWithoutChange<object>();
  const poll = new LooksWithoutChange<number>();
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
    const { polls, backlogAgeMs } = await describeWorkflowQueue(
      { connection, namespace },
      taskQueue,
    );
    const ours = polls.filter((one) => one.identity === identity).map(({ atMs }) => atMs);
    // A poll that the server has forgotten is no new one.
    const newest = ours.length > 0 ? Math.max(...ours) : poll.last;
    const hasPolled = newest !== undefined;
    const isLate = poll.looks(newest) >= pollLooks && backlogAgeMs >= backlogMs;
    if (hasPolled && isLate && worker.getState() === "RUNNING") found(problems.polls);
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
  return { close };
}

/** In how many looks, one after the other, a value has not changed. */
class LooksWithoutChange<T> {
  last: T | undefined;
  #looks = 0;

  looks(value: T | undefined): number {
    this.#looks = value === this.last ? this.#looks + 1 : 0;
    this.last = value;
    return this.#looks;
  }
}
