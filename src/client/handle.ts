// One process from the outside: its status, its result, and the updates that ask it something.
import {
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import type { Client, WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure, TerminatedFailure } from "@temporalio/common";
import type { UpdateDefinition } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { updatesOf } from "../contracts/registry.js";
import type { ProcessName } from "../contracts/registry.js";
import type { FailureDetails } from "../contracts/shared/failures.js";
import { queryTooEarly, resolve, status } from "../contracts/shared/messages.js";
import type {
  Decider,
  DecisionSignature,
  Resolution,
  ResolveAnswer,
} from "../contracts/shared/messages.js";
import { secretIds } from "../contracts/message-contracts.js";
import type { UpdateContract } from "../contracts/definition/message-contract.js";
import { checkInput } from "../contracts/shared/problems.js";
import { secretNames } from "../contracts/definition/secret-fields.js";
import type { Contract } from "../contracts/definition/secret-fields.js";
import { searchAttributes } from "../contracts/shared/names.js";
import type { ProcessStatus } from "../contracts/shared/status.js";
import { isPlaintextRefused } from "../temporal/codec/client-codec.js";
import { inspect } from "../temporal/visibility/stuck.js";
import { withoutMemos } from "../temporal/visibility/without-memos.js";
import {
  AbandonedError,
  FinishedError,
  InputMismatchError,
  InvalidInputError,
  NotAcceptedError,
  StuckError,
  TerminatedError,
  UnknownProcessError,
  UnprovenAnswerError,
  UnreachableError,
} from "./errors.js";
import { newestReadIn, withNewestRead } from "./newest-read.js";

/** Handlers answer within 20 s; after this long, no worker is there. */
const ANSWER_LIMIT_MS = 30_000;
/** Codes of gRPC; with the last one Temporal itself is away. */
const CANCELLED = 1;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
/** To find out why nobody answered. */
const STUCK_LIMIT_MS = 5_000;
const WATCH_INTERVAL_MS = 1_000;
/** After a query that came too early (decision 15). */
const ASK_AGAIN_MS = 100;

/** How the operator of this client signs a decision; undefined where it has no key. */
export type SignDecision = (decision: {
  workflowId: string;
  update: string;
  updateId: string;
  argument: object;
}) => DecisionSignature | undefined;

/** What goes before an update. */
export interface Writing {
  /** Throws for one who may only read. */
  check(): void;
  /** The argument with its secrets sealed; absent where nobody has given a key for that. */
  seal?(contract: Contract, argument: unknown): unknown;
  /** Absent, or undefined, for one without an operator's key. */
  sign?: SignDecision;
}

export class ProcessHandle<Result> {
  readonly process: ProcessName;
  readonly id: string;
  readonly workflowId: string;
  readonly #client: Client;
  readonly #workflow: WorkflowHandle;

  readonly #writing: Writing;

  constructor(
    client: Client,
    processName: ProcessName,
    id: string,
    writing: Writing = { check: () => undefined },
  ) {
    this.#client = client;
    this.#writing = writing;
    this.process = processName;
    this.id = id;
    this.workflowId = `${processName}/${id}`;
    this.#workflow = client.workflow.getHandle(this.workflowId);
  }

  /** Waits for the end. Throws the typed error of a process that failed. */
  async result(): Promise<Result> {
    for (;;) {
      try {
        return this.#present((await this.#workflow.result()) as Result);
      } catch (error) {
        // A reset ends the run that we waited for; the process goes on in a new one.
        if (isTerminated(error) && (await this.#state()) !== "TERMINATED") continue;
        throw await this.#typed(error);
      }
    }
  }

  /** Needs a live worker. */
  async status(): Promise<ProcessStatus> {
    if (this.process !== "sendNoticeBatch") return this.#status();
    // In this order the newest read never gets lost between the two: the process may learn of it meanwhile.
    const described = await this.#answered(() => this.#describe());
    const read = await newestReadIn(this.#client, described);
    return withNewestRead(await this.#status(), read);
  }

  #status(): Promise<ProcessStatus> {
    return this.#answered(async () => {
      for (let refusals = 1; ; refusals += 1) {
        try {
          return this.#present(await this.#workflow.query(status));
        } catch (error) {
          if (!isTooEarly(error) && !isInterrupted(error)) throw error;
          // No task comes any more for the last events of a process that was terminated.
          if (refusals > 1 && (await this.#state()) === "TERMINATED")
            throw new TerminatedError(this.workflowId);
          await delay(ASK_AGAIN_MS);
        }
      }
    });
  }

  /** Each status that differs from the one before, until the process has ended. */
  async *watch(): AsyncIterable<ProcessStatus> {
    let shown = "";
    for (;;) {
      const now = await this.status();
      const text = JSON.stringify(now);
      if (text !== shown) yield now;
      shown = text;
      if (now.phase === "ended" || !(await this.isOpen())) return;
      await delay(WATCH_INTERVAL_MS);
    }
  }

  async isOpen(): Promise<boolean> {
    return (await this.#state()) === "RUNNING";
  }

  #describe() {
    return withoutMemos(this.#client).getHandle(this.workflowId).describe();
  }

  /** Temporal's word for the newest run. */
  async #state(): Promise<string> {
    const { status: state } = await this.#answered(() => this.#describe());
    return state.name;
  }

  /** A person's decision on an open attention. */
  resolve(resolution: Resolution, updateId: string = randomUUID()): Promise<ResolveAnswer> {
    const { result } = resolution;
    const sealed = result && (this.#writing.seal?.(secretIds, result) as typeof result);
    return this.decide(resolve, { ...resolution, ...(sealed && { result: sealed }) }, updateId);
  }

  /** An update by which a person decides, signed where this client has an operator's key. */
  protected decide<R, D extends Decider>(
    definition: UpdateDefinition<R, [D]>,
    argument: D,
    updateId: string,
  ): Promise<R> {
    const { workflowId } = this;
    const signature = this.#writing.sign?.({
      workflowId,
      update: definition.name,
      updateId,
      argument,
    });
    return this.update(definition, [{ ...argument, ...(signature && { signature }) }], updateId);
  }

  /** `given`: as many values as `argumentOf` takes, then the id of the update, then who decides. */
  protected send(
    { definition, argumentOf, decides }: UpdateContract,
    given: unknown[],
  ): Promise<unknown> {
    const count = argumentOf.length;
    const argument = (argumentOf as (...given: unknown[]) => unknown)(...given.slice(0, count));
    const [updateId = randomUUID(), stated = {}] = given.slice(count) as [string?, Decider?];
    if (!decides)
      return this.update(definition, argument === undefined ? [] : [argument], updateId);
    return this.decide(
      definition as UpdateDefinition<unknown, [Decider]>,
      { ...stated, ...(argument as object) },
      updateId,
    );
  }

  protected async update<R, A extends unknown[]>(
    { name }: UpdateDefinition<R, A>,
    args: A,
    updateId: string,
  ): Promise<R> {
    this.#writing.check();
    const options = { args: this.#sealed(name, args), updateId };
    return this.#answered(async () => {
      for (;;) {
        try {
          return this.#present(await this.#workflow.executeUpdate<R, [unknown]>(name, options));
        } catch (error) {
          // Asked again within the deadline, the same update happens once.
          if (isUnprocessed(error) || (isCutShort(error) && (await this.isOpen()))) continue;
          throw error;
        }
      }
    });
  }

  /** The workers cannot check by the contract what is sealed before they open it, so that is done here. */
  #sealed(name: string, args: unknown[]): [unknown] {
    const contract = updatesOf(this.process).find((update) => update.name === name)?.argument;
    const { seal } = this.#writing;
    if (!contract || !seal || secretNames(contract).length === 0) return args as [unknown];
    const { fields } = checkInput(contract, args[0]);
    if (fields.length > 0) throw new InvalidInputError(fields);
    return [seal(contract, args[0])];
  }

  async #answered<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, call);
    } catch (error) {
      throw await this.#typed(error);
    }
  }

  /** No process answers nothing. */
  #present<T>(answer: T): T {
    if (answer === undefined) throw new UnprovenAnswerError(this.workflowId);
    return answer;
  }

  async #typed(error: unknown): Promise<unknown> {
    if (isPlaintextRefused(error)) return new UnprovenAnswerError(this.workflowId);
    if (error instanceof WorkflowNotFoundError) {
      const known = await this.#known();
      return known
        ? new FinishedError(this.workflowId, known.outcome)
        : new UnknownProcessError(this.workflowId);
    }
    // Every process answers `status`: the worker did not get that far.
    if (error instanceof QueryNotRegisteredError) {
      if (await this.isOpen()) return new StuckError(this.workflowId);
      return new UnreachableError(
        `${this.workflowId} has ended, and this release cannot replay it`,
      );
    }
    const isTimeout = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
    // Temporal's answers about a task that keeps failing differ with the moment.
    const isAnswered = error instanceof ServiceError && grpcOf(error).code !== UNAVAILABLE;
    if ((isTimeout || isAnswered) && (await this.#isStuck()))
      return new StuckError(this.workflowId);
    if (isTimeout || isUnanswered(error))
      return new UnreachableError(`${this.workflowId}: no worker answered within 30 s`);
    if (!(error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError)) {
      return error;
    }
    const { cause } = error;
    if (cause instanceof TerminatedFailure) return new TerminatedError(this.workflowId);
    return cause instanceof ApplicationFailure
      ? (typedFailure(cause, this.workflowId) ?? error)
      : error;
  }

  async #isStuck(): Promise<boolean> {
    try {
      const { connection, options } = this.#client;
      const where = { connection, namespace: options.namespace };
      const find = () => inspect(where, { workflowId: this.workflowId });
      return (await this.#client.withDeadline(Date.now() + STUCK_LIMIT_MS, find)) !== undefined;
    } catch {
      return false;
    }
  }

  /** Undefined if the process does not exist. */
  async #known(): Promise<{ outcome: string | undefined } | undefined> {
    try {
      const found = await this.#client.withDeadline(Date.now() + ANSWER_LIMIT_MS, () =>
        this.#describe(),
      );
      return { outcome: found.typedSearchAttributes.get(searchAttributes.outcome) };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw await this.#typed(error);
    }
  }
}

/** The SDK derives this error from the event itself; an error from a worker, or from a stranger, has a failure. */
function isTerminated(error: unknown): boolean {
  if (!(error instanceof WorkflowFailedError)) return false;
  return error.cause instanceof TerminatedFailure && error.cause.failure === undefined;
}

/** The query came before the workflow task of the newest events; it is repeated within the deadline. */
function isTooEarly(error: unknown): boolean {
  return error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly);
}

/** The worker stopped during the query, or too many queries waited; it is repeated within the deadline. */
function isInterrupted(error: unknown): boolean {
  const { code } = grpcOf(error);
  return code === CANCELLED || code === RESOURCE_EXHAUSTED;
}

/** The run ended before it answered; a reset ends the run that was queried. */
function isCutShort(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError || isRefused(error, "AcceptedUpdateCompletedWorkflow")
  );
}

/** A worker completed the workflow task without the update, for example because it lost a task (decision 15). */
function isUnprocessed(error: unknown): boolean {
  return isRefused(error, "UnprocessedUpdate");
}

/** Whether the server ended the call with this status. */
function isRefused(error: unknown, type: string): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === type;
}

/** The deadline has passed, or the server knows that no worker answers. */
function isUnanswered(error: unknown): boolean {
  const { code, details } = grpcOf(error);
  const isKnown = /^no poller seen|Workflow Task in failed state/.test(details ?? "");
  return code === 4 || (code === 9 && isKnown);
}

function grpcOf(error: unknown): { code?: unknown; details?: string } {
  return (error instanceof Error ? error.cause : undefined) ?? error ?? {};
}

function typedFailure({ type, details }: ApplicationFailure, id: string): Error | undefined {
  const [detail] = (details ?? []) as [unknown?];
  switch (type) {
    case "InvalidInput":
      return new InvalidInputError((detail as FailureDetails["InvalidInput"]).fields);
    case "InputMismatch":
      return new InputMismatchError(id);
    case "NotAccepted":
      return new NotAcceptedError(detail as FailureDetails["NotAccepted"]);
    case "Abandoned":
      return new AbandonedError(detail as FailureDetails["Abandoned"]);
    case "Finished":
      return new FinishedError(id);
    default:
      return undefined;
  }
}
