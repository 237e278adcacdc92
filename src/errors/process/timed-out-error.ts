import { TrustflowError } from "../trustflow-error.js";

/**
 * The call took longer than its `timeoutMs`. The process goes on. Ask again, or repeat a start with the same id and an update with the
 * same update id.
 */
export class TimedOutError extends TrustflowError {
  override readonly code = "timedOut";
  override readonly retryable = true;
  override readonly details: { timeoutMs: number };

  constructor(timeoutMs: number) {
    super(`No answer within ${timeoutMs} ms (timeoutMs)`);
    this.details = { timeoutMs };
  }
}
