import { TrustflowError } from "../trustflow-error.js";

/**
 * Something cannot be decrypted: the ring has another key of the same id, or the data was changed. Compare the ring with that of the
 * workers.
 */
export class DecryptionError extends TrustflowError {
  static override readonly errorName = "DecryptionError";
  override readonly code = "undecryptable";
}
