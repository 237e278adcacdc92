import { TrustflowError } from "../trustflow-error.js";

/** The stored bytes are not what the reference describes, or cannot be opened. Check the reference; else restore the document from a backup. */
export class DocumentCorruptError extends TrustflowError {
  static override readonly errorName = "DocumentCorruptError";
  override readonly code = "documentCorrupt";
  override readonly details: { uri: string };

  constructor(uri: string, problem: string) {
    super(`${uri}: ${problem}`);
    this.details = { uri };
  }
}
