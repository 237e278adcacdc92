// Why a process could not be started, followed or asked; one class for each thing a caller does differently.
import type { FailureDetails, FieldProblem } from "../contracts/shared/failures.js";

/** The base of all that Trustflow itself throws. */
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

/** The id already stands for another input. */
export class InputMismatchError extends TrustflowError {
  constructor(id: string) {
    super(`${id} was started with another input`);
  }
}

/** The provider refused; its effect does not exist. */
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

/** A person gave the process up; `effect` says whether something exists at the provider. */
export class AbandonedError extends TrustflowError {
  readonly details: FailureDetails["Abandoned"];

  constructor(details: FailureDetails["Abandoned"]) {
    super(`Abandoned by ${details.by} (effect: ${details.effect})`);
    this.details = details;
  }
}

/** The process was terminated: its effect may exist, nobody follows it; start it again under the same id. */
export class TerminatedError extends TrustflowError {
  constructor(id: string) {
    super(`${id} was terminated: start it again under the same id to take it up`);
  }
}

export class UnknownProcessError extends TrustflowError {
  /** `why`: what is wrong with the id itself. */
  constructor(id: string, why?: string) {
    super(`${id} is not known${why === undefined ? "" : `: ${why}`}`);
  }
}

/**
 * What Temporal answered is missing or not encrypted, and this client believes only its workers (`codec.plaintext`): somebody
 * without a key reaches Temporal. What became of the process is not known by it.
 */
export class UnprovenAnswerError extends TrustflowError {
  constructor(id: string) {
    super(
      `what Temporal answered about ${id} is missing or not encrypted, so it is not believed (codec.plaintext): somebody without a key may have written it`,
    );
  }
}

/** The process has ended and takes no more updates. */
export class FinishedError extends TrustflowError {
  /** How it ended, where that is known; a process that failed has none. */
  readonly outcome: string | undefined;

  constructor(id: string, outcome?: string) {
    super(`${id} has ended${outcome === undefined ? "" : ` as ${outcome}`}`);
    this.outcome = outcome;
  }
}

/** Temporal, or a worker to answer, is out of reach. */
export class UnreachableError extends TrustflowError {}

/** A worker answers, and cannot replay the process; it is repaired once, or waits for a release (docs/operations.md). */
export class StuckError extends UnreachableError {
  constructor(id: string) {
    super(
      `${id} is stuck: a worker cannot replay it. "trustflow cleanup" repairs it once; see "trustflow list --stuck"`,
    );
  }
}
