import { TrustflowError } from "../trustflow-error.js";
import { repeatable } from "../repeatable.js";

interface Details {
  /** Of the server that `connect` did not reach. */
  address?: string;
  /** Present for an update whose outcome is unknown. */
  updateId?: string;
}

/**
 * Temporal is unreachable or overloaded, or no worker answers. Try again later. A start may have been made all the same: start it again
 * with the same id. An update may have been taken all the same: call it again with `updateId`, and it happens once.
 */
export class UnreachableError extends TrustflowError {
  static override readonly errorName: string = "UnreachableError";
  override readonly code: "unreachable" | "stuck" = "unreachable";
  override readonly retryable = true;
  override readonly details: Details;

  constructor(message: string, details: Details = {}) {
    super(repeatable(message, details.updateId));
    this.details = details;
  }

  get updateId(): string | undefined {
    return this.details.updateId;
  }
}
