// One process from the outside: its status, its result, and the updates that ask it something.
import {
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isRetryableError,
} from "@temporalio/client";
import type {
  CallContext,
  Client,
  WorkflowClient,
  WorkflowExecutionDescription,
  WorkflowHandle,
} from "@temporalio/client";
import { ApplicationFailure, TerminatedFailure } from "@temporalio/common";
import type { UpdateDefinition } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { updatesOf } from "../contracts/registry.js";
import type { ProcessName } from "../contracts/registry.js";
import type { FailureDetails } from "../contracts/shared/failures.js";
import { resolve } from "../contracts/shared/messages.js";
import type {
  Decider,
  DecisionSignature,
  Resolution,
  ResolveAnswer,
} from "../contracts/shared/messages.js";
import { secretIds } from "../contracts/message-contracts.js";
import { checkInput } from "../contracts/shared/problems.js";
import { secretNames } from "../contracts/definition/secret-fields.js";
import type { Contract } from "../contracts/definition/secret-fields.js";
import { searchAttributes } from "../contracts/shared/names.js";
import type { ProcessStatus, TimelineEntry } from "../contracts/shared/status.js";
import { isPlaintextRefused } from "../temporal/codec/client-codec.js";
import { statusOf } from "../temporal/visibility/memo.js";
import { describe, queryStatus, statusIn } from "../temporal/visibility/process-status.js";
import { isOpenState } from "../temporal/visibility/query.js";
import { openCallsIn } from "../temporal/visibility/open-calls.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";
import { inspect, isLate, mayFail } from "../temporal/visibility/stuck.js";
import { grpcOf, status } from "../temporal/grpc-status.js";
import { RunChanges } from "../temporal/visibility/run-changes.js";
import { isCalling, withOpenCalls } from "./retries.js";
import {
  AbandonedError,
  FinishedError,
  InputMismatchError,
  InvalidInputError,
  NotAcceptedError,
  StuckError,
  TerminatedError,
  TrustflowError,
  UnexpectedFailureError,
  UnknownProcessError,
  UnprovenAnswerError,
  UnreachableError,
} from "../errors/index.js";
import { wrongArgument } from "../errors/arguments.js";
import { asJson } from "./input.js";
import { objectArgument } from "./arguments.js";
import { isOfAbort, isTooLarge, isUnavailable, typedRefusal } from "./refusal.js";
import { beginWait, contextOf, inOwnScope, stepsWithin } from "./waiting.js";
import type { Waiting } from "./waiting.js";

/** Handlers answer within 20 s; after this long, no worker is there. */
const ANSWER_LIMIT_MS = 30_000;
/** A wait goes on after these. `resourceExhausted`: too many long polls. */
const passing = new Set<unknown>([
  status.cancelled,
  status.deadlineExceeded,
  status.resourceExhausted,
  status.aborted,
  status.unavailable,
]);
/** Pauses before a wait is begun again. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The pause before a worker is asked again that could not replay the process. */
const REPLAY_PAUSE_MS = 1_000;
/** So often a watcher looks at a call that may fail. */
const CALL_WATCH_MS = 2_000;
/** The time in which the client finds out why nobody answered. */
const STUCK_LIMIT_MS = 5_000;

/** Who decides, and why. */
export type Stated = Omit<Decider, "signature">;

/** How the operator of this client signs a decision; undefined where it has no key. */
export type SignDecision = (decision: {
  workflowId: string;
  update: string;
  updateId: string;
  argument: object;
}) => DecisionSignature | undefined;

/** An update as Temporal takes it. */
export interface Sent {
  name: string;
  args: [unknown];
  updateId: string;
}

/** The client does this before an update. */
export interface Writing {
  /** Throws for one who may only read. */
  check(): void;
  /** Returns the argument with its secrets sealed; absent where nobody has given a key for that. */
  seal?(contract: Contract, argument: unknown): unknown;
  /** Absent, or undefined, for one without an operator's key. */
  sign?: SignDecision;
  /**
   * Of a process that is not started yet: starts it with its first update, in one request, and returns the answer. Undefined if the process
   * was there: then the update is still to be made.
   */
  start?(first: Sent): Promise<{ answer: unknown } | undefined>;
}

/** An update: its id, by which the same update happens once, and how long the caller waits. A text is the id alone. */
export type UpdateCall = string | (Waiting & { updateId?: string });

/** What a start has done: `joined` where the process existed, open or finished. */
export type Started = "created" | "joined";

/**
 * One process, by its id. Every call throws `UnknownProcessError` where there is none, `UnreachableError` where Temporal is away or no worker
 * answers within 30 seconds, `StuckError` where its workflow task keeps failing, and `UnprovenAnswerError` where an answer is not encrypted.
 * An update also throws `InvalidInputError` where its argument is refused, and `FinishedError` where the process has ended.
 */
export class ProcessHandle<Result> {
  /** The name of the process, such as `sendPostal`. */
  readonly process: ProcessName;
  /** The business id that the caller chose. */
  readonly id: string;
  /** `<process>/<business id>`: the id at Temporal. */
  readonly workflowId: string;
  /** Only a start knows it. */
  readonly started: Started | undefined;
  readonly #client: Client;
  readonly #workflow: WorkflowHandle;
  readonly #writing: Writing;
  /** One wait for a change lasts so long. */
  protected readonly watchLimitMs: number = 60_000;

  constructor(
    client: Client,
    processName: ProcessName,
    id: string,
    writing: Writing = { check: () => undefined },
    started?: Started,
  ) {
    this.#client = client;
    this.#writing = writing;
    this.process = processName;
    this.id = id;
    this.started = started;
    this.workflowId = `${processName}/${id}`;
    this.#workflow = client.workflow.getHandle(this.workflowId);
  }

  /** Waits for the end, also while Temporal is away, for as long as the caller does. Throws the typed error of a process that failed. */
  result(waiting: Waiting = {}): Promise<Result> {
    return this.#begin(waiting)(() => this.#untilAnswered(() => this.#ended()));
  }

  async #ended(): Promise<Result> {
    for (;;) {
      try {
        const workflow = withScopedPolls(this.#client.workflow).getHandle(this.workflowId);
        return this.#present((await workflow.result()) as Result);
      } catch (error) {
        // A reset ends the run that we waited for; the process goes on in a new one.
        if (isTerminated(error) && (await this.#described()).status.name !== "TERMINATED") continue;
        throw error;
      }
    }
  }

  /** As of the newest workflow task, from Temporal alone. `timeline` has the newest entries; `timeline()` has all. */
  status(waiting: Waiting = {}): Promise<ProcessStatus> {
    return this.#asked(waiting, async () => this.#statusIn(await this.#described()));
  }

  /** All entries. Needs a live worker, unless the process has ended with a result, or had few entries. */
  timeline(waiting: Waiting = {}): Promise<TimelineEntry[]> {
    return this.#asked(waiting, async () => {
      const described = await this.#described();
      const state = described.status.name;
      if (state === "COMPLETED") return (await this.#statusIn(described)).timeline;
      const noted = isOpenState(state) ? undefined : await statusOf(this.#client, described);
      const isWhole = noted !== undefined && noted.earlierEntries === undefined;
      return (isWhole ? noted : await this.#queried(described)).timeline;
    });
  }

  /**
   * The status with the whole timeline, the documents so far, and what the provider has said of the communication and of its reader
   * (personal data). Needs a live worker, unless the process has ended with a result.
   */
  fullStatus(waiting: Waiting = {}): Promise<ProcessStatus> {
    return this.#asked(waiting, async () => {
      const described = await this.#described();
      if (described.status.name !== "COMPLETED")
        return this.withCalls(
          await this.#queried(described, { full: true }),
          await openCallsIn(this.#client, described),
        );
      const result = this.#present((await this.#workflow.result()) as Partial<ProcessStatus>);
      const { reported, shown, documents } = result;
      return {
        ...(await this.#statusIn(described)),
        ...(documents && { documents }),
        ...(reported && { reported }),
        ...(shown && { shown }),
      };
    });
  }

  async #statusIn(
    described: WorkflowExecutionDescription,
    calls?: OpenCall[],
  ): Promise<ProcessStatus> {
    // Its memo is as of the last task that succeeded.
    if (mayFail(described.raw.pendingWorkflowTask) && (await this.#isStuck()))
      throw new StuckError(this.workflowId);
    const isOpen = isOpenState(described.status.name);
    const found = await statusIn(this.#client, described);
    // Without a memo of its own, only a worker knows it.
    const shown = this.#present(found ?? (isOpen ? await this.#queried(described) : undefined));
    return this.withCalls(shown, calls ?? (await openCallsIn(this.#client, described)));
  }

  /** The status, with what Temporal knows of an open process beside its memo. */
  protected withCalls(shown: ProcessStatus, calls: OpenCall[]): ProcessStatus {
    return withOpenCalls(shown, calls);
  }

  async #queried(
    { status: state }: WorkflowExecutionDescription,
    { full = false } = {},
  ): Promise<ProcessStatus> {
    const isOpen = isOpenState(state.name);
    for (;;) {
      try {
        const options = { full, ...(!isOpen && { mostRefusals: 2 }) };
        return this.#present(await queryStatus(this.#client, this.workflowId, options));
      } catch (error) {
        const isUnregistered = error instanceof QueryNotRegisteredError;
        if (isUnregistered && !isOpen) throw this.#cannotReplay(state.name);
        // Every process answers `status`: the worker did not get that far.
        if (!isUnregistered || (await this.#isStuck()))
          throw isUnavailable(error) ? error : await this.#typed(error);
        await delay(REPLAY_PAUSE_MS);
      }
    }
  }

  #cannotReplay(state: string): Error {
    if (state === "TERMINATED") return new TerminatedError(this.workflowId);
    return new UnreachableError(`${this.workflowId} has ended, and this release cannot replay it`);
  }

  /**
   * Each status that differs from the one before, until the process has ended, or the caller ends the wait. It waits for changes, and asks
   * no worker.
   */
  watch(waiting: Waiting = {}): AsyncIterable<ProcessStatus> {
    return stepsWithin(this.#begin(waiting), this.#changes());
  }

  async *#changes(): AsyncGenerator<ProcessStatus> {
    let shown = "";
    let changes: RunChanges | undefined;
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const [described, now, calls] = await this.#untilAnswered(() =>
        this.#limited(ANSWER_LIMIT_MS, async () => {
          const found = await this.#described();
          const open = await openCallsIn(this.#client, found);
          return [found, await this.#statusIn(found, open), open] as const;
        }),
      );
      const text = JSON.stringify(now);
      if (text !== shown) yield now;
      shown = text;
      const { runId, historyLength, status: state } = described;
      if (now.phase === "ended" || !isOpenState(state.name)) return;
      if (changes?.runId !== runId)
        changes = new RunChanges(this.#client, { workflowId: this.workflowId, runId });
      try {
        // A failed attempt is no event, so it ends no wait.
        const limitMs = isCalling(calls) ? CALL_WATCH_MS : this.watchLimitMs;
        const next = changes.next.bind(changes, historyLength, this.#msWithin(limitMs));
        await inOwnScope(this.#client.connection, next);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        // Whatever ended the wait, the next look says where the process stands.
        if (!isPassing(error)) changes = undefined;
        await this.#pause(pauseMs);
        pauseMs = longer(pauseMs);
      }
    }
  }

  /** False once the process has ended, whatever its outcome. */
  async isOpen(): Promise<boolean> {
    const { status: state } = await this.#answered(() => this.#described());
    return isOpenState(state.name);
  }

  #asked<T>(waiting: Waiting, ask: () => Promise<T>): Promise<T> {
    return this.#begin(waiting)(() => this.#answered(ask));
  }

  #begin(waiting: Waiting, updateId?: string) {
    return beginWait(waiting, this.#client.connection, updateId);
  }

  #described() {
    return describe(this.#client, this.workflowId);
  }

  /** A person's decision on an open attention. */
  async resolve(resolution: Resolution, call?: UpdateCall): Promise<ResolveAnswer> {
    const { result } = objectArgument(resolution, "resolution");
    const sealed = result && (this.#writing.seal?.(secretIds, result) as typeof result);
    return this.update(resolve, [{ ...resolution, ...(sealed && { result: sealed }) }], call);
  }

  /** An update by which a person decides is signed where this client has an operator's key. The same `updateId` is the same update. */
  protected async update<R, A extends [] | [object]>(
    { name }: UpdateDefinition<R, A>,
    args: A,
    call: UpdateCall = {},
  ): Promise<R> {
    const { updateId = randomUUID(), ...waiting } =
      typeof call === "string" ? { updateId: call } : objectArgument(call, "options");
    if (typeof updateId !== "string" || updateId === "")
      throw wrongArgument("updateId", "must be a text that is not empty");
    this.#writing.check();
    const contract = updatesOf(this.process).find((update) => update.name === name);
    const given = args.map((argument) => asJson(argument)) as [object?];
    const signed = contract?.decides ? this.#signed(name, given, updateId) : given;
    const sent = { name, args: this.#sealed(contract?.argument, signed), updateId };
    return this.#begin(waiting, updateId)(() => this.#executed<R>(sent));
  }

  #executed<R>({ name, ...options }: Sent): Promise<R> {
    return this.#answered(async () => {
      for (let { start } = this.#writing; ; start = undefined) {
        try {
          const started = await start?.({ name, ...options });
          if (started) return this.#present(started.answer as R);
          return this.#present(await this.#workflow.executeUpdate<R, [unknown]>(name, options));
        } catch (error) {
          // Asked again within the deadline, the same update happens once.
          // A worker completed the workflow task without the update, for example because it lost a task (decision 15).
          if (isRefused(error, "UnprocessedUpdate")) continue;
          // The run ended before it answered; a reset ends the run that was asked.
          const isCutShort =
            error instanceof WorkflowNotFoundError ||
            isRefused(error, "AcceptedUpdateCompletedWorkflow");
          if (!isCutShort || !isOpenState((await this.#described()).status.name)) throw error;
        }
      }
    }, options.updateId);
  }

  #signed(update: string, [argument = {}]: [object?], updateId: string): [object] {
    const signature = this.#writing.sign?.({
      workflowId: this.workflowId,
      update,
      updateId,
      argument,
    });
    return [{ ...argument, ...(signature && { signature }) }];
  }

  /**
   * The workers cannot check by the contract what is sealed before they open it, so that is done here; and so is the argument of an update
   * that starts a process, because a worker refuses it only when the process exists.
   */
  #sealed(contract: Contract | undefined, args: unknown[]): [unknown] {
    const { seal, start } = this.#writing;
    const isSealed = seal !== undefined && contract && secretNames(contract).length > 0;
    if (!contract || !(isSealed || start)) return args as [unknown];
    const { fields } = checkInput(contract, args[0]);
    if (fields.length > 0) throw new InvalidInputError(fields);
    return [isSealed ? seal(contract, args[0]) : args[0]];
  }

  /** `updateId` is that of the update which the call makes. */
  async #answered<T>(call: () => Promise<T>, updateId?: string): Promise<T> {
    try {
      return await this.#limited(ANSWER_LIMIT_MS, call);
    } catch (error) {
      throw await this.#typed(error, updateId);
    }
  }

  /** Asks again after each passing error, with growing pauses, for as long as the caller waits. */
  async #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    // A connection that is closed forgets its callers.
    const { abortSignal } = this.#caller;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longer(pauseMs)) {
      try {
        // The SDK begins a call all the same once its caller has aborted it.
        abortSignal?.throwIfAborted();
        return await ask();
      } catch (error) {
        abortSignal?.throwIfAborted();
        if (!isPassing(error)) throw await this.#typed(error);
        await this.#pause(pauseMs);
        abortSignal?.throwIfAborted();
        if (this.#msWithin(1) === 0) throw isUnavailable(error) ? await this.#typed(error) : error;
      }
    }
  }

  /** Calls for at most this long, and no longer than the caller waits. */
  async #limited<T>(limitMs: number, call: () => Promise<T>): Promise<T> {
    this.#caller.abortSignal?.throwIfAborted();
    return inOwnScope(this.#client.connection, () =>
      this.#client.withDeadline(Date.now() + this.#msWithin(limitMs), call),
    );
  }

  async #pause(pauseMs: number): Promise<void> {
    const { abortSignal: signal } = this.#caller;
    const ms = this.#msWithin(pauseMs * (0.5 + Math.random()));
    await delay(ms, undefined, signal && { signal }).catch(() => undefined);
  }

  /** Returns how much of this time the caller has left: 0 after its own deadline, or its own abort. */
  #msWithin(limitMs: number): number {
    const { abortSignal, deadline } = this.#caller;
    if (abortSignal?.aborted) return 0;
    return deadline === undefined
      ? limitMs
      : Math.max(0, Math.min(limitMs, +deadline - Date.now()));
  }

  get #caller(): CallContext {
    return contextOf(this.#client.connection);
  }

  /** No process answers nothing. */
  #present<T>(answer: T | undefined): T {
    if (answer === undefined) throw new UnprovenAnswerError(this.workflowId);
    return answer;
  }

  async #typed(error: unknown, updateId?: string): Promise<unknown> {
    const { abortSignal } = this.#caller;
    if (isOfAbort(error, abortSignal)) return abortSignal.reason;
    if (error instanceof TrustflowError) return error;
    if (isPlaintextRefused(error)) return new UnprovenAnswerError(this.workflowId);
    if (error instanceof WorkflowNotFoundError) {
      const known = await this.#known(updateId);
      return known
        ? new FinishedError(this.workflowId, known.outcome)
        : new UnknownProcessError(this.workflowId);
    }
    const update = updateId === undefined ? {} : { updateId };
    if (isUnavailable(error))
      return new UnreachableError(`${this.workflowId}: Temporal cannot be reached`, update);
    const isTimeout = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
    const isUnregistered = error instanceof QueryNotRegisteredError;
    // Temporal's answers about a task that keeps failing differ with the moment.
    if ((isTimeout || isUnregistered || error instanceof ServiceError) && (await this.#isStuck()))
      return new StuckError(this.workflowId, updateId);
    if (isTimeout || isUnregistered || isUnanswered(error))
      return new UnreachableError(`${this.workflowId}: no worker answered within 30 s`, update);
    if (updateId !== undefined && (isPassing(error) || grpcOf(error).code === status.internal))
      return new UnreachableError(`${this.workflowId}: Temporal broke off the call`, update);
    if (!(error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError))
      return typedRefusal(error, this.#client.options.namespace, abortSignal);
    return this.#failure(error.cause ?? error);
  }

  /** The error of a process that failed, or that has refused an update. */
  #failure(cause: Error): Error {
    if (cause instanceof TerminatedFailure) return new TerminatedError(this.workflowId);
    const { type, details } = cause instanceof ApplicationFailure ? cause : {};
    const known = failures[type ?? ""]?.(details?.[0] as never, this.workflowId);
    return known ?? new UnexpectedFailureError(this.workflowId, type ?? cause.name, cause);
  }

  /** True if its workflow task keeps failing. A task that no worker takes makes no process stuck for its client. */
  async #isStuck(): Promise<boolean> {
    try {
      const { connection, options } = this.#client;
      const where = { connection, namespace: options.namespace };
      const find = () => inspect(where, { workflowId: this.workflowId });
      const found = await this.#client.withDeadline(Date.now() + STUCK_LIMIT_MS, find);
      return found !== undefined && !isLate(found.stuck);
    } catch {
      return false;
    }
  }

  /** Undefined if the process does not exist. */
  async #known(updateId?: string): Promise<{ outcome: string | undefined } | undefined> {
    try {
      const found = await this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, () =>
        this.#described(),
      );
      return { outcome: found.typedSearchAttributes.get(searchAttributes.outcome) };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw await this.#typed(error, updateId);
    }
  }
}

/** The same client; each poll of its `result` is forgotten when it is answered. */
function withScopedPolls(client: WorkflowClient): WorkflowClient {
  const { connection, workflowService } = client;
  const poll = workflowService.getWorkflowExecutionHistory.bind(workflowService);
  const scoped: unknown = Object.create(workflowService, {
    getWorkflowExecutionHistory: {
      value: (request: Parameters<typeof poll>[0]) => inOwnScope(connection, () => poll(request)),
    },
  });
  return Object.create(client, { workflowService: { value: scoped } }) as WorkflowClient;
}

/** The SDK derives this error from the event itself; an error from a worker, or from a stranger, has a failure. */
function isTerminated(error: unknown): boolean {
  if (!(error instanceof WorkflowFailedError)) return false;
  return error.cause instanceof TerminatedFailure && error.cause.failure === undefined;
}

/** Temporal is away, or too many calls wait there: who waits asks again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TrustflowError) return false;
  const { code, details = "" } = grpcOf(error);
  if (code === status.internal) return isRetryableError(grpcOf(error) as StatusObject);
  return passing.has(code) && !isTooLarge(details);
}

type StatusObject = Parameters<typeof isRetryableError>[0];

function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
}

/** True if the server ended the update with this status. */
function isRefused(error: unknown, type: string): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === type;
}

/** The deadline has passed, or the server knows that no worker answers. */
function isUnanswered(error: unknown): boolean {
  const { code, details } = grpcOf(error);
  const isKnown = /^no poller seen|Workflow Task in failed state/.test(details ?? "");
  return code === status.deadlineExceeded || (code === status.failedPrecondition && isKnown);
}

const failures: Record<string, (detail: never, id: string) => Error> = {
  InvalidInput: ({ fields }: FailureDetails["InvalidInput"]) => new InvalidInputError(fields),
  InputMismatch: (_, id) => new InputMismatchError(id),
  NotAccepted: (detail: FailureDetails["NotAccepted"]) => new NotAcceptedError(detail),
  Abandoned: (detail: FailureDetails["Abandoned"]) => new AbandonedError(detail),
  Finished: (_, id) => new FinishedError(id),
};
