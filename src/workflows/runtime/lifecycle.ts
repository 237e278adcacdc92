// Runs a process: its main path, background work, updates, stopping, and its orderly end.
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  isCancellation,
  setHandler,
} from "@temporalio/workflow";
import type { UpdateDefinition } from "@temporalio/common";
import type { Decider } from "../../contracts/shared/messages.js";
import { shownFailure } from "../../contracts/shared/failures.js";
import type { References } from "../../contracts/shared/status.js";
import { invalidInput } from "./activity-errors.js";
import { abandoned } from "./attention.js";
import type { Attentions, Decided, Opening } from "./attention.js";
import { restOfStartDelay, secondsFromNow } from "./clock.js";
import type { Timer } from "./clock.js";
import { refuseUnlessDecider, verifyDecider } from "./decisions.js";
import type { ProvenPerson } from "./decisions.js";
import type { ProcessStatusBoard } from "./status.js";

/** Temporal takes 2,000 updates of a process. The last ones are kept for persons' decisions, without which it may wait for ever. */
const MAX_UPDATES = 1_800;

/** Ends the main path: the effect was withdrawn before it was sent. */
export class Withdrawn extends Error {}

type LifecycleStatus = Pick<
  ProcessStatusBoard,
  "conclude" | "effectExists" | "failure" | "given" | "ownOutcome" | "references"
>;

export class Lifecycle {
  /** Resolves when the main path must stop at once. Undefined once a letter is tracked, which is then followed to its end. */
  stopping: Promise<{ stop: Error }> | undefined;
  stopped: Error | undefined;
  /** With which occurrence a step was called last. */
  readonly occurrences = new Map<string, string>();
  readonly #status: LifecycleStatus;
  readonly #attentions: Attentions;
  #stop!: (stop: { stop: Error }) => void;
  readonly #background: { scope: CancellationScope; done: Promise<void> }[] = [];
  #ending = false;
  #updates = 0;

  /** True once the main path has ended, and the process waits for the answers of its updates alone. */
  get isEnding(): boolean {
    return this.#ending;
  }

  constructor(status: LifecycleStatus, attentions: Attentions) {
    this.#status = status;
    this.#attentions = attentions;
    this.goOn();
  }

  /** From here on it can be stopped, whatever has stopped it before. */
  goOn(): void {
    this.stopped = undefined;
    this.stopping = new Promise((resolve) => {
      this.#stop = resolve;
    });
  }

  /** An update that answers within 20 s, never raises attention, and is refused once the process ends, or has taken very many. */
  onUpdate<R, A extends unknown[]>(
    definition: UpdateDefinition<R, A>,
    description: string,
    handler: (...args: A) => Promise<R> | R,
    validate?: (...args: A) => void,
  ): void {
    this.#take(definition, description, handler, (...args: A) => {
      if (this.#updates >= MAX_UPDATES)
        throw invalidInput(
          "(update)",
          `comes after ${MAX_UPDATES} others: only decisions are taken`,
        );
      validate?.(...args);
    });
  }

  #take<R, A extends unknown[]>(
    definition: UpdateDefinition<R, A>,
    description: string,
    handler: (...args: A) => Promise<R> | R,
    validate: (...args: A) => void,
  ): void {
    setHandler(
      definition,
      (...args: A) => {
        this.#updates += 1;
        return CancellationScope.nonCancellable(async () => handler(...args));
      },
      {
        description,
        validator: (...args: A) => {
          if (this.#ending)
            throw ApplicationFailure.nonRetryable("The process has ended", "Finished");
          // It becomes part of a row, and PostgreSQL stores no U+0000.
          if (/\p{Cc}/u.test(currentUpdateInfo()?.id ?? ""))
            throw invalidInput("updateId", "must have no control characters");
          validate(...args);
        },
      },
    );
  }

  /**
   * An update by which a person decides; `members` are those of its argument beside the person. It answers `unavailable` if the check of
   * the person was not possible.
   */
  onDecision<R extends { answer: string }, D extends Decider>(
    definition: UpdateDefinition<R | { answer: "unavailable" }, [D]>,
    description: string,
    members: readonly Exclude<keyof D & string, keyof Decider>[],
    handler: (given: D, who: ProvenPerson) => Promise<R> | R,
    validate?: (given: D) => void,
  ): void {
    this.#take(
      definition,
      description,
      async (decision) => {
        const given = decision ?? {};
        const who = await verifyDecider(given);
        return who ? handler(given, who) : { answer: "unavailable" as const };
      },
      (given) => {
        refuseUnlessDecider(given, members);
        validate?.(given);
      },
    );
  }

  /** The background `work` begins when the Web UI or any Temporal client cancels the process, also before its first workflow task. */
  onCancelRequested(work: () => Promise<void>): void {
    const scope = CancellationScope.current();
    const begin = () =>
      CancellationScope.nonCancellable(async () => {
        if (!this.#ending) this.background(work);
      });
    if (scope.consideredCancelled) void begin();
    else scope.cancelRequested.catch(begin);
  }

  /**
   * For a process without an update `cancel`: a person decides whether it is given up (docs/design.md §2). `steps` are all steps that
   * have the effect: their rows tell what exists, and after `abandon` nothing is sent for them. The attention names the last one.
   */
  askBeforeCancelling(...steps: [string, ...string[]]): void {
    this.onCancelRequested(() => this.#askWhetherToCancel(steps));
  }

  #askWhetherToCancel(steps: [string, ...string[]]): Promise<void> {
    const step = steps.at(-1) ?? steps[0];
    const opening: Opening = {
      step: { name: step, journaled: true },
      kind: "cancelRequested",
      reason: "someone requested its cancellation: retry continues the process, abandon ends it",
      rows: () =>
        steps.map((name) => ({ step: name, occurrence: this.occurrences.get(name) ?? "0" })),
    };
    return this.#attentions.ask(opening, (decided) => {
      if (decided.decision === "abandon") this.stop(this.abandoned(step, decided));
    });
  }

  /** The error of a process that ends after `abandon`; once it has a reference of its own, the effect exists. */
  abandoned(step: string, decided: Decided): Error {
    const { references, given } = this.#status;
    const exists = Object.keys(references).some((name) => !given.has(name));
    return abandoned(step, exists ? { ...decided, effect: "exists" } : decided);
  }

  withdraw(): void {
    this.stop(new Withdrawn());
  }

  /** Ends the main path at its current step or wait. */
  stop(error: Error): void {
    this.stopped = error;
    this.#stop({ stop: error });
  }

  /** The effect exists: from here on it is followed until `deadlineSeconds` have passed, and no longer stopped. */
  beginTracking(references: References, deadlineSeconds: number): void {
    this.stopping = undefined;
    this.#status.effectExists("tracking", references, secondsFromNow(deadlineSeconds));
  }

  /** Background work; it is cancelled when the main path ends. If it fails, a person decides whether it is done again. */
  background(work: () => Promise<void>): void {
    const scope = new CancellationScope();
    const done = scope.run(() => this.#untilDone(work)).catch(() => undefined);
    this.#background.push({ scope, done });
  }

  async #untilDone(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // A rejection without an end would fail every workflow task from now on.
        if (isCancellation(error) || !(await this.#askWhetherToRepeat(error))) return;
      }
    }
  }

  /** Once a letter is tracked, `abandon` ends nothing: it is not offered, and one from before leaves the work out. */
  #askWhetherToRepeat(error: unknown): Promise<boolean> {
    const isStoppable = () => this.stopping !== undefined;
    const opening: Opening = {
      step: { name: "background", journaled: false, happened: {} },
      kind: "protocol",
      reason: `work beside the steps has failed (${nameOf(error)}): retry does it again, happened leaves it out`,
      isUnstoppable: !isStoppable(),
    };
    return this.#attentions.ask(opening, (decided) => {
      if (decided.decision === "abandon" && isStoppable())
        this.stop(this.abandoned("background", decided));
      return decided.decision === "retry";
    });
  }

  /**
   * Runs the main path so that no cancellation leaves an effect untracked. At the end it refuses new updates, lets the
   * running ones answer, and returns.
   */
  async run<R>(path: { main(): Promise<void>; result(): R }): Promise<R> {
    const isCancelledEarly = CancellationScope.current().consideredCancelled;
    return CancellationScope.nonCancellable(async () => {
      try {
        const delay = restOfStartDelay();
        if (isCancelledEarly || delay) await this.#untilDue(isCancelledEarly, delay);
        await path.main();
      } catch (error) {
        if (!(error instanceof Withdrawn)) {
          if (error instanceof ApplicationFailure) this.#status.failure = shownFailure(error);
          await this.#end();
          throw error;
        }
        this.#status.ownOutcome = "cancelledBeforeSubmit";
      }
      await this.#end();
      return path.result();
    });
  }

  /** Nothing is sent before the start delay is over, nor before it is clear whether a process that was cancelled early is given up. */
  async #untilDue(isCancelledEarly: boolean, delay: Timer | undefined): Promise<void> {
    if (isCancelledEarly) await Promise.all(this.#background.map(({ done }) => done));
    if (delay) await condition(() => delay.isOver || this.stopped !== undefined);
    delay?.cancel();
    if (this.stopped) throw this.stopped;
  }

  async #end(): Promise<void> {
    this.#ending = true;
    for (const { scope } of this.#background) scope.cancel();
    await Promise.all(this.#background.map(({ done }) => done));
    await condition(allHandlersFinished);
    this.#status.conclude();
  }
}

/** The message of an error may quote what nobody may see. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
