import { TrustflowError } from "../trustflow-error.js";

/** The document was sealed with the data key of a process that was erased. It cannot be opened again. */
export class DocumentErasedError extends TrustflowError {
  static override readonly errorName = "DocumentErasedError";
  override readonly code = "documentErased";
  override readonly details: { uri: string };

  constructor(uri: string) {
    super(`${uri} was erased with its process`);
    this.details = { uri };
  }
}
