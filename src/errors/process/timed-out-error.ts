import { TrustflowError } from "../trustflow-error.js";
import { repeatable } from "../repeatable.js";

/**
 * The call took longer than its `timeoutMs`. The process goes on. Ask again, or repeat a start with the same id. An update may have been
 * taken all the same: call it again with `updateId`, and it happens once.
 */
export class TimedOutError extends TrustflowError {
  static override readonly errorName = "TimedOutError";
  override readonly code = "timedOut";
  override readonly retryable = true;
  override readonly details: { timeoutMs: number; updateId?: string };

  /** `updateId`: of an update whose outcome is unknown. */
  constructor(timeoutMs: number, updateId?: string) {
    super(repeatable(`No answer within ${timeoutMs} ms (timeoutMs)`, updateId));
    this.details = { timeoutMs, ...(updateId !== undefined && { updateId }) };
  }

  get updateId(): string | undefined {
    return this.details.updateId;
  }
}
