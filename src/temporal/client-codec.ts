// The codec of a client that believes nothing in clear: whoever reaches Temporal can end a process or answer for a worker (decision 22).
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import { DecryptionError } from "../crypto/errors.js";
import { isEncrypted } from "./codec.js";
import type { EncryptionCodec } from "./codec.js";

export class ClientCodec implements PayloadCodec {
  readonly #codec: EncryptionCodec;

  constructor(codec: EncryptionCodec) {
    this.#codec = codec;
  }

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return this.#codec.encode(payloads, context);
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    if (!payloads.every(isEncrypted))
      throw new DecryptionError(
        "what Temporal answered is not encrypted, so it is not of our workers (codec.plaintext)",
      );
    return this.#codec.decode(payloads);
  }
}
