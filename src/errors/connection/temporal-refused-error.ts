import { TrustflowError } from "../trustflow-error.js";

/**
 * Temporal refused the call for a reason that no other class names. `status` is the status of gRPC: `invalidArgument` for an option that
 * the server does not take, for example. Read the message, and correct the call.
 */
export class TemporalRefusedError extends TrustflowError {
  static override readonly errorName = "TemporalRefusedError";
  override readonly code = "temporalRefused";
  override readonly details: { status: string };

  constructor(status: string, reason: string) {
    super(`Temporal refused the call (${status}): ${reason}`);
    this.details = { status };
  }
}
