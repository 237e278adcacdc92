// What can go wrong when something is opened; the messages name key ids, never keys or content.

export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
  readonly keyId: string;

  constructor(keyId: string) {
    super(`the key ring has no key "${keyId}"`);
    this.keyId = keyId;
  }
}

export class DecryptionError extends Error {
  override readonly name = "DecryptionError";
}

/** What was written cannot be opened: a key is missing or wrong, which only a person can bring back. */
export function isLocked(error: unknown): error is UnknownKeyError | DecryptionError {
  return error instanceof UnknownKeyError || error instanceof DecryptionError;
}
