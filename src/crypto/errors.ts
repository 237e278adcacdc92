// The messages of these errors name key ids, never keys or content.

export class UnknownKeyError extends Error {
  override readonly name: string = "UnknownKeyError";
  readonly keyId: string;

  constructor(keyId: string, message = `the key ring has no key "${keyId}"`) {
    super(message);
    this.keyId = keyId;
  }
}

/** The data key of a process is not where documents are kept: a restore has left it out. */
export class MissingDataKeyError extends UnknownKeyError {
  override readonly name = "MissingDataKeyError";

  constructor(keyId: string) {
    super(keyId, `the document store has no data key "${keyId}"`);
  }
}

/** The process was erased, and its data key with it: what it sealed can never be opened again. */
export class ErasedKeyError extends Error {
  override readonly name = "ErasedKeyError";

  constructor() {
    super("the process was erased, and its data key with it");
  }
}

export class DecryptionError extends Error {
  override readonly name = "DecryptionError";
}

/** A key is missing or wrong, which only a person can bring back. */
export function isUndecryptable(error: unknown): error is UnknownKeyError | DecryptionError {
  return error instanceof UnknownKeyError || error instanceof DecryptionError;
}
