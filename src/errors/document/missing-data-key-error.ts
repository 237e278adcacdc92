import { UnknownKeyError } from "../connection/unknown-key-error.js";

/** The data key of a process is not where documents are kept: a restore has left it out. Restore the folder `keys` of `documents.directory`. */
export class MissingDataKeyError extends UnknownKeyError {
  static override readonly errorName = "MissingDataKeyError";
  override readonly code = "dataKeyMissing";

  constructor(keyId: string) {
    super(keyId, `the document store has no data key "${keyId}"`);
  }
}
