import { TrustflowError } from "../trustflow-error.js";

/** No process has this id, or the id is not valid. Check the id; a process whose history was deleted is unknown too. */
export class UnknownProcessError extends TrustflowError {
  static override readonly errorName = "UnknownProcessError";
  override readonly code = "unknownProcess";
  override readonly details: { id: string };

  /** `why`: the problem with the id itself. */
  constructor(id: string, why?: string) {
    super(`Unknown process ${id}${why === undefined ? "" : `: ${why}`}`);
    this.details = { id };
  }
}
