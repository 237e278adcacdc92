import { TrustflowError } from "../trustflow-error.js";

/** The process was terminated. Its effect may exist; start the process again with the same id to follow it. */
export class TerminatedError extends TrustflowError {
  static override readonly errorName = "TerminatedError";
  override readonly code = "terminated";
  override readonly details: { id: string };

  constructor(id: string) {
    super(`${id} was terminated: start it again with the same id to continue it`);
    this.details = { id };
  }
}
