import { TrustflowError } from "../trustflow-error.js";

/** The id is taken by other content; a stored document never changes. Store it under another id. */
export class DocumentConflictError extends TrustflowError {
  static override readonly errorName = "DocumentConflictError";
  override readonly code = "documentConflict";
  override readonly details: { uri: string };

  constructor(uri: string) {
    super(`${uri} is already stored with other content`);
    this.details = { uri };
  }
}
