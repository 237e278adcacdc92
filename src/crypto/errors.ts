// The messages of these errors name key ids, never keys or content.
import { DecryptionError, UnknownKeyError } from "../errors/index.js";

export { DecryptionError, MissingDataKeyError, UnknownKeyError } from "../errors/index.js";

/** The process was erased, and its data key with it: what it sealed can never be opened again. */
export class ErasedKeyError extends Error {
  override readonly name = "ErasedKeyError";

  constructor() {
    super("the process was erased, and its data key with it");
  }
}

/** A key is missing or wrong, which only a person can bring back. */
export function isUndecryptable(error: unknown): error is UnknownKeyError | DecryptionError {
  return error instanceof UnknownKeyError || error instanceof DecryptionError;
}
