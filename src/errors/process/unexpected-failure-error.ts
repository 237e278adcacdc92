import { TrustflowError } from "../trustflow-error.js";

/**
 * The process failed, or refused an update, for a reason that this release does not know: a newer release of the workers, a timeout that
 * another client has set, or a defect. `cause` is Temporal's error. Look at the history in the Web UI.
 */
export class UnexpectedFailureError extends TrustflowError {
  static override readonly errorName = "UnexpectedFailureError";
  override readonly code = "unexpectedFailure";
  override readonly details: { id: string; type: string };

  constructor(id: string, type: string, cause: Error) {
    super(`${id}: unexpected failure (${type}): ${cause.message}`, { cause });
    this.details = { id, type };
  }
}
