// The worker of the processes: it knows its activations in progress, and it stops in a quiet moment. The SDK's core drops a workflow task
// that the server hands over while the polls end, and that task's process waits for ten seconds (docs/upstream.md).
import { Worker } from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";

/** A worker without an activation for so long need not wait for a quiet moment. */
const IDLE_MS = 500;
/** The workers of activities stop first: the calls that end their polls would delay ours, and tasks get lost meanwhile. */
const OTHERS_MS = 500;
const LOOK_EVERY_MS = 5;
/** Tasks come in groups. After so many looks without a new one, the group is over; looks are counted, because a busy core delays them. */
const QUIET_LOOKS = 12;
/** How long a quiet moment is waited for. Then the worker stops without one. */
const LIMIT_MS = 1_300;
/** How long the server may take to answer all polls. */
const POLLS_MS = 300;

export class WorkflowWorker extends Worker {
  readonly #inProgress = new Set<object>();
  #newestAt = performance.now();
  #isStopping = false;
  #keepsBack = false;
  /** Gives the answer that is kept back. */
  #answer: (() => void) | undefined;

  protected override async handleActivation(
    ...given: Parameters<Worker["handleActivation"]>
  ): ReturnType<Worker["handleActivation"]> {
    const [, { activation }] = given;
    // It makes place in the cache for a task that waits for it.
    const isEviction = activation.jobs.some(({ removeFromCache }) => removeFromCache);
    this.#inProgress.add(activation);
    if (!isEviction) this.#newestAt = performance.now();
    try {
      const answer = await super.handleActivation(...given);
      if (this.#keepsBack && !isEviction) await this.#keepBack();
      return answer;
    } finally {
      this.#inProgress.delete(activation);
    }
  }

  get oldestActivation(): object | undefined {
    const [oldest] = this.#inProgress;
    return oldest;
  }

  override shutdown(): void {
    if (this.#isStopping) return;
    if (this.getState() !== "RUNNING" || this.#isIdle()) return super.shutdown();
    this.#isStopping = true;
    void this.#stopInLull();
  }

  /** While one answer is kept back, the core still hands over the tasks that polls bring. */
  async #stopInLull(): Promise<void> {
    await delay(OTHERS_MS);
    this.#keepsBack = true;
    const end = performance.now() + LIMIT_MS;
    for (let looks = 0; looks < QUIET_LOOKS && performance.now() < end && !this.#isIdle();) {
      const before = this.#newestAt;
      await delay(LOOK_EVERY_MS);
      const isQuiet = this.#newestAt === before && this.#answer !== undefined;
      looks = isQuiet ? looks + 1 : 0;
    }
    if (this.getState() === "RUNNING") super.shutdown();
    await delay(POLLS_MS);
    this.#keepsBack = false;
    this.#answer?.();
  }

  /** One at a time, so that it takes one place of those for tasks. */
  #keepBack(): Promise<void> {
    const before = this.#answer;
    return new Promise((resolve) => {
      this.#answer = resolve;
      before?.();
    });
  }

  #isIdle(): boolean {
    return this.#inProgress.size === 0 && performance.now() - this.#newestAt >= IDLE_MS;
  }
}
