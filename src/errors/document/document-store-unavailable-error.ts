import { TrustflowError } from "../trustflow-error.js";

/**
 * The folder of `documents.directory` cannot be used: `errno` is the operating system's name of the problem, such as `EACCES`. Check that
 * the folder is mounted, and that this process may read and write it.
 */
export class DocumentStoreUnavailableError extends TrustflowError {
  static override readonly errorName = "DocumentStoreUnavailableError";
  override readonly code = "documentStoreUnavailable";
  override readonly retryable = true;
  override readonly details: { errno: string };

  constructor(errno: string, cause: Error) {
    super(`The document store is not available: ${cause.message}`, { cause });
    this.details = { errno };
  }
}
