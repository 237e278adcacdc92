// The messages of the journal's errors name steps and times, never content.
import type { LookUpFinding } from "./effect.js";

export { ErasedKeyError, isUndecryptable } from "../crypto/errors.js";

export class JournalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Another attempt holds the row. Try again when its lease is over. */
export class EffectInFlight extends JournalError {
  readonly retryAfterMs: number;

  constructor(step: string, retryAfterMs: number) {
    super(`step "${step}" is being sent by another worker`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A look-up found nothing. A new item may not be visible at once, so look up again after `retryAfterMs`. */
export class EffectAbsentOnce extends JournalError {
  readonly retryAfterMs: number;

  constructor(step: string, retryAfterMs: number, cause?: unknown) {
    super(`step "${step}" got no answer, and the provider does not show it yet`, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** The effect may have happened. There is no look-up, or an empty one proves nothing. A person has to decide. */
export class EffectUnknown extends JournalError {
  /** Why an empty look-up proves nothing, where there is a look-up. `reported`: a callback has come for the effect. */
  readonly lookUp: Exclude<LookUpFinding, "found"> | "reported" | undefined;
  /** It was sent with this token. */
  readonly token: string;

  constructor(step: string, token: string, cause?: unknown, lookUp?: EffectUnknown["lookUp"]) {
    super(`step "${step}" may have happened: it was sent and no answer was stored`, { cause });
    this.lookUp = lookUp;
    this.token = token;
  }
}

/** The provider refused the request, so nothing exists. */
export class EffectRefused extends JournalError {
  readonly refusal: object;

  constructor(step: string, refusal: object) {
    super(`step "${step}" was refused by the provider`);
    this.refusal = refusal;
  }
}

/** The step was tried with another input, and its effect may exist. */
export class EffectMismatch extends JournalError {
  constructor(step: string) {
    super(`step "${step}" was already sent with another input`);
  }
}

/** The step was withdrawn before anything was sent, and nothing will be sent. */
export class EffectWithdrawn extends JournalError {
  constructor(step: string) {
    super(`step "${step}" was withdrawn before it was sent`);
  }
}

/** A person decided to send again while an attempt may still run. Decide again after `until`. */
export class LeaseRunning extends JournalError {
  readonly until: Date;

  constructor(step: string, until: Date) {
    super(
      `step "${step}" may still be under way until ${until.toISOString()}: decide again after that`,
    );
    this.until = until;
  }
}

/** PostgreSQL cannot be reached. If that was so before the send, nothing was sent. */
export class JournalUnavailable extends JournalError {
  readonly code: string | undefined;

  /** Keeps only the error's code, because PostgreSQL repeats values of the row in its messages. */
  constructor(failure: unknown) {
    const code = (failure as { code?: unknown } | undefined)?.code;
    super(`cannot reach the journal${typeof code === "string" ? ` (${code})` : ""}`);
    this.code = typeof code === "string" ? code : undefined;
  }
}
