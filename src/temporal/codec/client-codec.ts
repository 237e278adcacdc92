// The codec of a client that accepts only encrypted payloads: anyone who can reach Temporal can end a process or answer for a
// worker (decision 22).
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import { isEncrypted } from "./codec.js";
import type { EncryptionCodec } from "./codec.js";

/** Thrown by the failure converter too, which is known by the name alone (client-failure-converter.cjs). */
export class PlaintextRefused extends Error {
  override readonly name = "PlaintextRefused";
}

export function isPlaintextRefused(error: unknown): boolean {
  return error instanceof Error && error.name === "PlaintextRefused";
}

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
      throw new PlaintextRefused("Temporal's answer is not encrypted (codec.plaintext)");
    return this.#codec.decode(payloads);
  }
}
