// One running process: what it answers, how it is stopped, and its orderly end. What it knows is in facts.ts, what it shows in
// standing.ts, the steps in steps.ts, the waiting in follow.ts.
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  patched,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type { UpdateDefinition } from "@temporalio/common";
import {
  providerEvents,
  repaired,
  resolve,
  status,
  surplus,
} from "../../contracts/shared/messages.js";
import type { Decider, Repair, Surplus } from "../../contracts/shared/messages.js";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import type { References, ShownFailure } from "../../contracts/shared/status.js";
import { abandoned } from "./attention.js";
import type { Decided } from "./attention.js";
import { secondsFromNow } from "./clock.js";
import { isChecked, refuseUnlessDecider, stated, whoDecides } from "./decisions.js";
import type { Proven } from "./decisions.js";
import { deferred } from "./deferred.js";
import type { Snapshot, View, ViewOf } from "./facts.js";
import { Standing } from "./standing.js";

/** Ends the main path: the effect was withdrawn before it was sent. */
export class Withdrawn extends Error {}

export class Process<S extends Snapshot, V extends View> extends Standing<S, V> {
  /** Resolves when the main path is to end where it is; for a letter, not any more once it is tracked. */
  stopping: Promise<{ stop: Error }> | undefined;
  stopped: Error | undefined;
  readonly #stop: (stop: { stop: Error }) => void;
  readonly #background: { scope: CancellationScope; done: Promise<void> }[] = [];
  readonly #repairedRuns = new Set<string>();
  #ending = false;

  constructor(viewOf: ViewOf<S, V>) {
    super(viewOf);
    const { promise, settle } = deferred<{ stop: Error }>();
    this.stopping = promise;
    this.#stop = settle;

    setHandler(status, () => this.status(), { description: "Where the process stands" });
    setHandler(providerEvents, (events) => this.hear(events), {
      description: "Callbacks of the provider",
    });
    setHandler(surplus, (told) => this.#noteSurplus(told), {
      description: "More callbacks came than the process is told of",
    });
    setHandler(repaired, (repair) => this.#noteRepair(repair), {
      description: "The clean-up reset a process that was stuck",
    });
    setDefaultSignalHandler((name) =>
      log.warn("a signal without a handler was dropped", { signal: name }),
    );
    this.onDecision(
      resolve,
      "A person's decision on an attention",
      (resolution, who) => this.attentions.resolve(resolution, who),
      (resolution) => this.attentions.validate(resolution),
    );
  }

  /** An update that answers within 20 s, never raises attention, and is refused once the process ends. */
  onUpdate<R, A extends unknown[]>(
    definition: UpdateDefinition<R, A>,
    description: string,
    handler: (...args: A) => Promise<R> | R,
    validate?: (...args: A) => void,
  ): void {
    setHandler(
      definition,
      (...args: A) => CancellationScope.nonCancellable(async () => handler(...args)),
      {
        description,
        validator: (...args: A) => {
          if (this.#ending)
            throw ApplicationFailure.nonRetryable("The process has ended", "Finished");
          validate?.(...args);
        },
      },
    );
  }

  /** An update by which a person decides; `unavailable` where it cannot be known now who that is. */
  onDecision<R extends { answer: string }, D extends Decider>(
    definition: UpdateDefinition<R | { answer: "unavailable" }, [D]>,
    description: string,
    handler: (given: D, who: Proven) => Promise<R> | R,
    validate?: (given: D) => void,
  ): void {
    this.onUpdate(
      definition,
      description,
      // Not `async`: an unchecked decision has to schedule its activities where the release before did.
      (decision) => {
        const given = decision ?? {};
        if (!isChecked()) return handler(given, stated(given));
        return whoDecides(given).then((who) =>
          who ? handler(given, who) : { answer: "unavailable" as const },
        );
      },
      (given) => {
        refuseUnlessDecider(given);
        validate?.(given);
      },
    );
  }

  /** The Web UI's Cancel, or any client's: the same as the update `cancel`. */
  onCancelRequested(handler: () => void): void {
    CancellationScope.current().cancelRequested.catch(() =>
      CancellationScope.nonCancellable(async () => handler()),
    );
  }

  /**
   * Where the process has no update `cancel`: a person decides whether it is given up (docs/design.md §2). `steps` are those that
   * bring its effect about, whichever of them runs by then: by their rows it is known what exists, and after `abandon` nothing
   * is sent for them. It is shown as the last one's.
   */
  askBeforeCancelling(...steps: [string, ...string[]]): void {
    this.onCancelRequested(() => {
      if (!this.#ending) this.background(() => this.#askWhetherToCancel(steps));
    });
  }

  async #askWhetherToCancel(steps: [string, ...string[]]): Promise<void> {
    const step = steps.at(-1) ?? steps[0];
    const attention = this.attentions.open({
      step: { name: step, journaled: true },
      kind: "cancelRequested",
      reason: "its cancellation was asked for: retry lets it go on, abandon gives it up",
      rows: steps,
    });
    try {
      const ended = CancellationScope.current().cancelRequested;
      const decided = await Promise.race([attention.decided, ended]);
      if (decided.decision === "abandon") this.stop(this.abandoned(step, decided));
    } finally {
      this.attentions.close(attention);
    }
  }

  /** How it ends where a person gave it up; what has a reference exists, whatever became of the step. */
  abandoned(step: string, decided: Decided): Error {
    const exists = Object.keys(this.references).length > 0;
    return abandoned(step, exists ? { ...decided, effect: "exists" } : decided);
  }

  /** The effect was withdrawn before it was sent. */
  withdraw(): void {
    this.stop(new Withdrawn());
  }

  /** Ends the main path at the step or wait that it is at. */
  stop(error: Error): void {
    this.stopped = error;
    this.#stop({ stop: error });
  }

  /** The effect exists: from here on it is followed until `deadlineSeconds` have passed. */
  track(references: References, deadlineSeconds: number): void {
    this.stopping = undefined;
    this.exists("tracking", references, secondsFromNow(deadlineSeconds));
  }

  /**
   * Runs the main path so that no cancellation leaves an effect untracked; at the end refuses new updates, lets the
   * running ones answer, and returns.
   */
  async run<R>(main: () => Promise<void>, result: () => R): Promise<R> {
    return CancellationScope.nonCancellable(async () => {
      try {
        await main();
      } catch (error) {
        if (!(error instanceof Withdrawn)) {
          if (error instanceof ApplicationFailure) this.failure = shownFailure(error);
          await this.#end();
          throw error;
        }
        this.ownOutcome = "cancelledBeforeSubmit";
      }
      await this.#end();
      return result();
    });
  }

  /** A signal's handler must not throw. A worker of the release before drops this signal: in its history it changes nothing. */
  #noteSurplus(told: Partial<Surplus> | null | undefined): void {
    if (typeof told?.count === "number" && patched("surplus")) this.hearSurplus(told.count);
  }

  /** The signal may arrive twice, and in the run that was not reset. A signal's handler must not throw. */
  #noteRepair(repair: Partial<Repair> | null | undefined): void {
    const { runId, since } = repair ?? {};
    if (typeof runId !== "string" || typeof since !== "string") return;
    if (runId === workflowInfo().runId || this.#repairedRuns.has(runId)) return;
    this.#repairedRuns.add(runId);
    this.note({
      source: "process",
      event: "Repaired: reset to the last good workflow task",
      note: `its workflow tasks had failed since ${since}`,
    });
  }

  /** Work that goes on beside the main path, and is called off with its end. */
  background(work: () => Promise<void>): void {
    const scope = new CancellationScope();
    const done = scope.run(work).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
    this.#background.push({ scope, done });
  }

  async #end(): Promise<void> {
    this.#ending = true;
    for (const { scope } of this.#background) scope.cancel();
    await Promise.all(this.#background.map(({ done }) => done));
    await condition(allHandlersFinished);
    this.conclude();
  }
}

function shownFailure({ type, message, details }: ApplicationFailure): ShownFailure {
  const [detail] = (details ?? []) as { fields?: FieldProblem[] }[];
  return { type: type ?? "Error", message, fields: detail?.fields ?? [] };
}

/** What steps and following need of a process, whatever its snapshot and view. */
export type AnyProcess = Pick<
  Process<Snapshot, View>,
  | "abandoned"
  | "account"
  | "attentions"
  | "claimEnd"
  | "environment"
  | "events"
  | "exists"
  | "identify"
  | "lastHeard"
  | "note"
  | "onDecision"
  | "onUpdate"
  | "ownClaims"
  | "ownOutcome"
  | "references"
  | "stopped"
  | "stopping"
  | "surplusHeard"
  | "timesHeard"
  | "view"
  | "waitFor"
>;
