// A process that another one starts and follows: it goes on if its parent ends, and it is looked at, because the events of a child in
// its parent's history may be a stranger's, or of a run that a reset has ended (docs/decisions/0031).
import {
  ActivityFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  isCancellation,
  ParentClosePolicy,
  sleep,
} from "@temporalio/workflow";

// oxlint-disable-next-line no-restricted-imports -- the one place
import { startChild } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { LookAnswer, LookRequest, RunRequest } from "../../activities/runtime/look.js";
import type { InputOf, ProcessName, ResultOf } from "../../contracts/registry.js";
import { workflowIdOf, workflowTaskQueue } from "../../contracts/shared/names.js";
import type { LookedAt } from "../../contracts/shared/process-look.js";
import { problemIn } from "./activity-errors.js";
import { ownProxy, ownUpdateProxy, repeatedEvery } from "./activity-options.js";

interface ChildOptions<P> {
  process: P;
  id: string;
  /** In business words, for the Web UI: of the process, and of the looks at it. */
  title: string;
  label: string;
}

interface ChildStart<P extends ProcessName> {
  account: string;
  input: InputOf<P>;
  digest: string;
  lookIntervalSeconds: number;
}

const attempt: ActivityOptions = {
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "12 seconds",
};

type WorkflowOf<P extends ProcessName> = (input: InputOf<P>) => Promise<ResultOf<P>>;

export class Child<P extends ProcessName> {
  readonly process: P;
  readonly id: string;
  readonly workflowId: string;
  readonly #title: string;
  readonly #label: string;
  /** The newest look. */
  found: LookedAt | undefined;
  #start: ChildStart<P> | undefined;
  #fingerprint: string | undefined;
  /** It was there before: its input has to be ours. */
  #isInputUnchecked = false;
  /** How often an event said that a run of the child has ended. */
  #hints = 0;

  constructor({ process: processName, id, title, label }: ChildOptions<P>) {
    this.process = processName;
    this.id = id;
    this.workflowId = workflowIdOf(processName, id);
    this.#title = title;
    this.#label = label;
  }

  /** Undefined if the child has not ended with a result, or this process has not started it. */
  get result(): ResultOf<P> | undefined {
    const { isStarted, found } = this;
    return isStarted && found?.run === "completed" ? (found.result as ResultOf<P>) : undefined;
  }

  get isStarted(): boolean {
    return this.#start !== undefined;
  }

  /** Starts the process, or joins the one that is there under its id; the next look compares its input. */
  async start(given: ChildStart<P>): Promise<void> {
    this.#start = given;
    this.found = undefined;
    this.#fingerprint = undefined;
    try {
      const handle = await CancellationScope.nonCancellable(() =>
        startChild<WorkflowOf<P>>(this.process, {
          workflowId: this.workflowId,
          taskQueue: workflowTaskQueue,
          args: [given.input],
          parentClosePolicy: ParentClosePolicy.ABANDON,
          cancellationType: ChildWorkflowCancellationType.ABANDON,
          workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
          staticSummary: `${this.#title} ${this.id}`,
        }),
      );
      const hint = () => {
        this.#hints += 1;
      };
      handle.result().then(hint, hint);
    } catch (error) {
      if (!isThere(error)) throw error;
      this.#isInputUnchecked = true;
    }
  }

  /** Looks until the newest run has ended; `changed` is called after each answer. */
  async follow(changed: () => void): Promise<void> {
    while (this.found === undefined || this.found.run === "open") {
      this.#apply(await this.#change());
      changed();
    }
  }

  /** One look, which waits for no change; a worker makes it until it succeeds. */
  async lookNow(): Promise<LookedAt> {
    const { lookIntervalSeconds = 1 } = this.#start ?? {};
    const maximumInterval = lookIntervalSeconds * 1_000;
    const retry = { initialInterval: Math.min(1_000, maximumInterval), maximumInterval };
    const answer = await this.#look("now", `Look at ${this.#label}`, { retry });
    this.#apply(answer);
    return answer.found;
  }

  /** For an update, which answers soon: whether the process is there at all. */
  async isThere(account: string): Promise<boolean> {
    const { lookAt } = ownUpdateProxy(`Look whether there is ${this.#label}`);
    const { found } = await lookAt({ workflowId: this.workflowId, account, wait: "now" });
    return found.run !== "missing";
  }

  /** The event of an end is a reason to look at once, and no more than that. */
  async #change(): Promise<LookAnswer> {
    const { lookIntervalSeconds = 1 } = this.#start ?? {};
    const retry = repeatedEvery(lookIntervalSeconds * 1_000);
    for (;;) {
      const hints = this.#hints;
      const scope = new CancellationScope();
      const looking = scope.run(() =>
        this.#look("change", `Look at ${this.#label} until something changes`, { retry }),
      );
      const news = scope.run(() => condition(() => this.#hints > hints)).then(() => undefined);
      for (const end of [looking, news]) end.catch(() => undefined);
      try {
        const answer = await Promise.race([looking, news]);
        if (answer) return answer;
      } finally {
        scope.cancel();
      }
    }
  }

  /** Fails if the process has another input. What else may fail says nothing about the process, so the look is repeated. */
  async #look(
    wait: LookRequest["wait"],
    summary: string,
    { retry }: Pick<ActivityOptions, "retry">,
  ): Promise<LookAnswer> {
    const { account = "default", digest, lookIntervalSeconds = 1 } = this.#start ?? {};
    const { lookAt } = ownProxy({ ...attempt, ...(retry && { retry }), summary });
    const request: LookRequest = {
      workflowId: this.workflowId,
      account,
      wait,
      ...(this.#fingerprint !== undefined && { seen: this.#fingerprint }),
      ...(this.#isInputUnchecked && digest !== undefined && { digest }),
    };
    return untilAnswered(() => lookAt(request), lookIntervalSeconds, summary);
  }

  #apply({ fingerprint, found }: LookAnswer): void {
    this.found = found;
    this.#fingerprint = fingerprint;
    this.#isInputUnchecked = false;
  }
}

/**
 * Whether the newest run of a process is open. Only Temporal is asked, without end, at intervals that grow to a minute. The process may
 * have no worker that can answer, and its result may not be readable.
 */
export async function isOpen(workflowId: string, label: string): Promise<boolean> {
  const summary = `Look at ${label}`;
  const retry = { maximumInterval: "1 minute" } as const;
  const { lookAt } = ownProxy({ ...attempt, retry, summary });
  const request: RunRequest = { workflowId, account: "default", wait: "now", only: "run" };
  const { found } = await untilAnswered(() => lookAt(request), 60, summary);
  return found.run === "open";
}

async function untilAnswered<A>(
  ask: () => Promise<A>,
  pauseSeconds: number,
  summary: string,
): Promise<A> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAnswer = problemIn(error)?.kind === "InputMismatch";
      if (isAnswer || isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      // A stranger completed the activity (decision 22), or a key is missing.
      await sleep(pauseSeconds * 1_000, { summary: `Pause before: ${summary}` });
    }
  }
}

/** The SDK exports its class to clients alone. */
function isThere(error: unknown): boolean {
  return error instanceof Error && error.name === "WorkflowExecutionAlreadyStartedError";
}
