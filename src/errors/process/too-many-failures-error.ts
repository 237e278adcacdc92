import { TrustflowError } from "../trustflow-error.js";

/**
 * More starts of `startMany` failed than its `maxFailures`, so it made no other one. Each outcome came before this error. Look at them, and
 * call it again with the same requests: what was started is joined.
 */
export class TooManyFailuresError extends TrustflowError {
  static override readonly errorName = "TooManyFailuresError";
  override readonly code = "tooManyFailures";
  override readonly details: { failures: number; maxFailures: number };

  constructor(failures: number, maxFailures: number) {
    super(`Failed starts: ${failures}; maxFailures is ${maxFailures}, so no other one was made`);
    this.details = { failures, maxFailures };
  }
}
