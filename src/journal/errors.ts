// What the journal answers instead of a result. Messages name steps and times, never content.
import type { LookUpFinding } from "./effect.js";

export { ErasedKeyError, isLocked } from "../crypto/errors.js";

export class JournalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Somebody else is at it: ask again when the lease is over. */
export class EffectInFlight extends JournalError {
  readonly retryAfterMs: number;

  constructor(step: string, retryAfterMs: number) {
    super(`step "${step}" is being sent by somebody else`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Looked up and not found once: a new item may not be visible at once, so it is asked for again after a while. */
export class EffectAbsentOnce extends JournalError {
  readonly retryAfterMs: number;

  constructor(step: string, retryAfterMs: number, cause?: unknown) {
    super(`step "${step}" got no answer and was not found at the provider yet`, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** It may have happened, and nobody can be asked, or what is asked proves nothing. */
export class EffectUnknown extends JournalError {
  /** Why an empty look-up proves nothing, where there is a look-up. */
  readonly lookUp: Exclude<LookUpFinding, "found"> | undefined;

  constructor(step: string, cause?: unknown, lookUp?: EffectUnknown["lookUp"]) {
    super(`step "${step}" may have happened: it was sent and no answer is known`, { cause });
    this.lookUp = lookUp;
  }
}

/** The provider said no, cleanly: nothing exists. */
export class EffectRefused extends JournalError {
  readonly refusal: object;

  constructor(step: string, refusal: object) {
    super(`step "${step}" was refused by the provider`);
    this.refusal = refusal;
  }
}

/** The same step was tried with another input, and that one may exist. */
export class EffectMismatch extends JournalError {
  constructor(step: string) {
    super(`step "${step}" was already taken with another input`);
  }
}

/** The step was withdrawn before anything was sent; nothing will be. */
export class EffectWithdrawn extends JournalError {
  constructor(step: string) {
    super(`step "${step}" was withdrawn before it was sent`);
  }
}

/** A decision to send again came while a sender may still be at it. */
export class LeaseRunning extends JournalError {
  readonly until: Date;

  constructor(step: string, until: Date) {
    super(
      `step "${step}" may still be under way until ${until.toISOString()}: decide again after that`,
    );
    this.until = until;
  }
}

/** PostgreSQL is out of reach. Before the send it means that nothing was sent. */
export class JournalUnavailable extends JournalError {
  readonly code: string | undefined;

  /** Keeps the error's code only: PostgreSQL repeats values of the row in its texts. */
  constructor(failure: unknown) {
    const code = (failure as { code?: unknown } | undefined)?.code;
    super(`the journal cannot be reached${typeof code === "string" ? ` (${code})` : ""}`);
    this.code = typeof code === "string" ? code : undefined;
  }
}
