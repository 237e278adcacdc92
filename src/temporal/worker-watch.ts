// Notices that the worker of the processes does no work although it runs, so that its role ends and is started again: SDK 1.24 can lose
// the places of its cache, and then polls no more (docs/upstream/frozen-worker.md).
import { Worker } from "@temporalio/worker";
import type { NativeConnection } from "@temporalio/worker";
import { describeWorkflowQueue } from "./visibility/task-queue.js";

/** What the SDK's core logs, at the level ERROR, when it loses an activation. */
const LOST_ACTIVATION = "Extra buffered run should not have produced an activation";
/** A task has ten seconds, so one activation that takes a minute will not end. */
const ACTIVATION_LIMIT_MS = 60_000;
/** A poll lasts a minute, and the server notes when each one begins. */
const POLL_LIMIT_MS = 180_000;
const LOOK_EVERY_MS = 15_000;

/** A worker that knows how long its activations have been in progress. */
export class WatchedWorker extends Worker {
  readonly #inProgress = new Set<{ since: number }>();

  protected override async handleActivation(
    ...given: Parameters<Worker["handleActivation"]>
  ): ReturnType<Worker["handleActivation"]> {
    const activation = { since: performance.now() };
    this.#inProgress.add(activation);
    try {
      return await super.handleActivation(...given);
    } finally {
      this.#inProgress.delete(activation);
    }
  }

  get oldestActivationMs(): number {
    const [oldest] = this.#inProgress;
    return oldest ? performance.now() - oldest.since : 0;
  }
}

const lost = new EventTarget();

/** Called with each line that the SDK logs. */
export function noteLine(message: string): void {
  if (message.includes(LOST_ACTIVATION)) lost.dispatchEvent(new Event("lost"));
}

type Watched = Pick<WatchedWorker, "oldestActivationMs" | "getState" | "options">;

export interface WorkerWatchOptions {
  connection: Pick<NativeConnection, "workflowService">;
  namespace: string;
  everyMs?: number;
  activationLimitMs?: number;
  pollLimitMs?: number;
}

/** Calls `onProblem` once, with the reason. */
export function watchWorker(
  worker: Watched,
  {
    connection,
    namespace,
    everyMs = LOOK_EVERY_MS,
    activationLimitMs = ACTIVATION_LIMIT_MS,
    pollLimitMs = POLL_LIMIT_MS,
  }: WorkerWatchOptions,
  onProblem: (reason: string) => void,
): { close(): void } {
  let lastPollAt = Date.now();

  async function look(): Promise<void> {
    if (worker.getState() !== "RUNNING") return;
    if (worker.oldestActivationMs > activationLimitMs)
      return found("a workflow activation has not ended for a minute");
    const polledAt = await newestPoll().catch(() => Date.now());
    lastPollAt = Math.max(lastPollAt, polledAt);
    if (Date.now() - lastPollAt > pollLimitMs)
      found(`it has not polled the task queue ${worker.options.taskQueue} for minutes`);
  }

  /** As the server knows it; the time at which the look began counts where it does not answer. */
  async function newestPoll(): Promise<number> {
    const { taskQueue, identity } = worker.options;
    const { polls } = await describeWorkflowQueue({ connection, namespace }, taskQueue);
    const own = polls.filter((poll) => poll.identity === identity);
    return Math.max(0, ...own.map(({ atMs }) => atMs));
  }

  const timer = setInterval(() => void look(), everyMs);
  const onLost = () => found("the SDK has lost a workflow activation");
  lost.addEventListener("lost", onLost);
  const close = () => {
    clearInterval(timer);
    lost.removeEventListener("lost", onLost);
  };
  function found(reason: string): void {
    close();
    onProblem(reason);
  }
  return { close };
}
