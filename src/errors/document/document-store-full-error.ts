import { TrustflowError } from "../trustflow-error.js";

/** Nothing was stored. Free space on the disk of `documents.directory`, and call again. */
export class DocumentStoreFullError extends TrustflowError {
  static override readonly errorName = "DocumentStoreFullError";
  override readonly code = "documentStoreFull";
  override readonly retryable = true;

  constructor(cause: Error) {
    super("The document store is full: free space on the disk of documents.directory", { cause });
  }
}
