import { TrustflowError } from "../trustflow-error.js";

/** The document is not in the store. Check the URI, and that `documents.directory` is the folder of the workers. */
export class DocumentNotFoundError extends TrustflowError {
  static override readonly errorName = "DocumentNotFoundError";
  override readonly code = "documentNotFound";
  override readonly details: { uri: string };

  constructor(uri: string) {
    super(`${uri} is not in the document store`);
    this.details = { uri };
  }
}
