// The client has one class of errors for each case that a caller handles differently.
import type { FailureDetails, FieldProblem } from "../contracts/shared/failures.js";

/** Every error of the client extends it. */
export class TrustflowError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The input breaks the contract; nothing was started. */
export class InvalidInputError extends TrustflowError {
  readonly fields: FieldProblem[];

  constructor(fields: FieldProblem[]) {
    super(`Invalid input: ${fields.map(({ path, problem }) => `${path} ${problem}`).join("; ")}`);
    this.fields = fields;
  }
}

/** The id is already used with another input. Use another id, or send the first input again. */
export class InputMismatchError extends TrustflowError {
  constructor(id: string) {
    super(`${id} was started with another input`);
  }
}

/** The provider refused the request, and no effect exists. Correct the fields and start again with the same id. */
export class NotAcceptedError extends TrustflowError {
  readonly provider: string;
  readonly code: string | undefined;
  readonly fields: FieldProblem[];

  constructor({ provider, code, fields }: FailureDetails["NotAccepted"]) {
    const problems = fields.map(({ path, problem }) => [path, problem].filter(Boolean).join(" "));
    const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
    super(`${provider} did not accept it${code === undefined ? "" : ` (${code})`}${why}`);
    this.provider = provider;
    this.code = code;
    this.fields = fields;
  }
}

/** An operator abandoned the process; `effect` says whether something exists at the provider. */
export class AbandonedError extends TrustflowError {
  readonly details: FailureDetails["Abandoned"];

  constructor(details: FailureDetails["Abandoned"]) {
    super(`Abandoned by ${details.by} (effect: ${details.effect})`);
    this.details = details;
  }
}

/** The process was terminated. Its effect may exist; start the process again with the same id to follow it. */
export class TerminatedError extends TrustflowError {
  constructor(id: string) {
    super(`${id} was terminated: start it again with the same id to continue it`);
  }
}

export class UnknownProcessError extends TrustflowError {
  /** `why`: the problem with the id itself. */
  constructor(id: string, why?: string) {
    super(`Unknown process ${id}${why === undefined ? "" : `: ${why}`}`);
  }
}

/**
 * Temporal's answer is missing or not encrypted, and this client accepts only encrypted answers (`codec.plaintext`). Someone
 * without a key may have written it, so it does not show the state of the process.
 */
export class UnprovenAnswerError extends TrustflowError {
  constructor(id: string) {
    super(
      `Temporal's answer about ${id} is missing or not encrypted, so the client rejects it (codec.plaintext): someone without a key may have written it`,
    );
  }
}

/** The process has ended and accepts no more updates. */
export class FinishedError extends TrustflowError {
  /** Its outcome, if known; a failed process has none. */
  readonly outcome: string | undefined;

  constructor(id: string, outcome?: string) {
    super(`${id} has ended${outcome === undefined ? "" : ` as ${outcome}`}`);
    this.outcome = outcome;
  }
}

/**
 * Temporal is unreachable, or no worker answers. Try again later. An update may have been taken all the same: call it again with
 * `updateId`, and it happens once.
 */
export class UnreachableError extends TrustflowError {
  /** Present for an update whose outcome is unknown. */
  readonly updateId: string | undefined;

  constructor(message: string, updateId?: string) {
    super(
      updateId === undefined
        ? message
        : `${message}. It may have been taken all the same: repeat it with the update id ${updateId}`,
    );
    this.updateId = updateId;
  }
}

/**
 * Workers take the workflow task of the process, and it keeps failing. The clean-up repairs it once; else it waits for a new release
 * (docs/operations/stuck.md).
 */
export class StuckError extends UnreachableError {
  constructor(id: string, updateId?: string) {
    super(
      `${id} is stuck: its workflow task keeps failing; see "trustflow list --stuck"`,
      updateId,
    );
  }
}
