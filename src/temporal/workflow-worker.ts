// The worker of the processes: it knows its activations in progress, and it stops in a lull. The SDK's core drops a workflow task that the
// server hands over while the polls end, and that task's process waits for ten seconds (docs/upstream/tasks-lost-at-a-stop.md).
import { Worker } from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";

/** A worker without a new activation for so long need not wait for a lull. */
const IDLE_MS = 500;
/** The workers of activities stop first: the calls that end their polls would delay ours, and tasks get lost meanwhile. */
const OTHERS_MS = 500;
/** Tasks come in groups. After so long without a new one, the group is over. */
const LULL_MS = 60;
/** How long a lull is waited for. Without one, the worker stops as the SDK does. */
const LIMIT_MS = 1_300;
/** Until the server has answered all polls. */
const POLLS_MS = 300;
const LOOK_EVERY_MS = 5;

export class WorkflowWorker extends Worker {
  readonly #inProgress = new Set<object>();
  #newestAt = performance.now();
  #isStopping = false;
  #mayAnswer: Promise<void> | undefined;

  protected override async handleActivation(
    ...given: Parameters<Worker["handleActivation"]>
  ): ReturnType<Worker["handleActivation"]> {
    const activation = {};
    this.#inProgress.add(activation);
    this.#newestAt = performance.now();
    try {
      const handled = await super.handleActivation(...given);
      await this.#mayAnswer;
      return handled;
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
    this.#isStopping = true;
    if (this.#quietMs() >= IDLE_MS) super.shutdown();
    else void this.#stopInLull();
  }

  /** While an activation is not answered, the core still hands over tasks that polls bring. */
  async #stopInLull(): Promise<void> {
    await delay(OTHERS_MS);
    let answer = (): void => undefined;
    this.#mayAnswer = new Promise((resolve) => (answer = resolve));
    const end = performance.now() + LIMIT_MS;
    while (performance.now() < end && !this.#isLull()) await delay(LOOK_EVERY_MS);
    if (this.getState() === "RUNNING") super.shutdown();
    await delay(POLLS_MS);
    answer();
  }

  #isLull(): boolean {
    const quietMs = this.#quietMs();
    return quietMs >= IDLE_MS || (quietMs >= LULL_MS && this.#inProgress.size > 0);
  }

  #quietMs(): number {
    return performance.now() - this.#newestAt;
  }
}
