import { TrustflowError } from "../trustflow-error.js";

/**
 * Something is encrypted with a key that the client's ring lacks. Add the key to the ring that the message is about: `keys.codec` for
 * answers of Temporal, `keys.documents` for documents. After a rotation the old key must stay in the ring
 * (docs/operations/keys.md).
 */
export class UnknownKeyError extends TrustflowError {
  static override readonly errorName: string = "UnknownKeyError";
  override readonly code: "unknownKey" | "dataKeyMissing" = "unknownKey";
  override readonly details: { keyId: string };

  constructor(keyId: string, message = `the key ring has no key "${keyId}"`) {
    super(message);
    this.details = { keyId };
  }

  get keyId(): string {
    return this.details.keyId;
  }
}
