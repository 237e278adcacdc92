// Encrypts whole payloads, on the wire the same as the encryption samples of Temporal's other SDKs: `binary/encrypted`,
// the key's id beside it, the serialised payload sealed with AES-256-GCM.
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import proto from "@temporalio/proto";
import { decrypt, encrypt } from "../../crypto/aes-gcm.js";
import { DecryptionError } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { WriteTags } from "./write-tag.js";

const ENCODING = "encoding";
const ENCRYPTED = "binary/encrypted";
const KEY_ID = "encryption-key-id";
const PayloadMessage = proto.temporal.api.common.v1.Payload;

export class EncryptionCodec implements PayloadCodec {
  readonly #ring: KeyRing;
  readonly #tags: WriteTags | undefined;

  /** With a write ring it tags what it encrypts. */
  constructor(ring: KeyRing, writeRing?: KeyRing) {
    this.#ring = ring;
    this.#tags = writeRing && new WriteTags(writeRing);
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const { id, bytes } = this.#ring.active;
    return payloads.map((payload) => {
      const data = encrypt(bytes, PayloadMessage.encode(payload).finish());
      const marks = { [ENCODING]: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(id) };
      return { metadata: { ...marks, ...this.#tags?.of(data, context) }, data };
    });
  }

  /** Whether it was encrypted with the write ring for this process; without a ring this is not checked. */
  isTagged(payload: Payload, context: SerializationContext | undefined): boolean {
    return this.#tags === undefined || this.#tags.isValid(payload, context);
  }

  /** Passes on unchanged what is not encrypted: history from before encryption, search attributes, test servers. */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#decode(payload));
  }

  #decode(payload: Payload): Payload {
    if (!isEncrypted(payload)) return payload;
    const keyId = text(payload, KEY_ID);
    if (keyId === undefined)
      throw new DecryptionError("an encrypted payload does not name its key");
    const plaintext = decrypt(this.#ring.require(keyId).bytes, payload.data ?? new Uint8Array());
    const { metadata, data, externalPayloads } = PayloadMessage.decode(plaintext);
    return { metadata, data, ...(externalPayloads.length > 0 && { externalPayloads }) };
  }
}

export function isEncrypted(payload: Payload): boolean {
  return text(payload, ENCODING) === ENCRYPTED;
}

function text(payload: Payload, field: string): string | undefined {
  const value = payload.metadata?.[field];
  return value && Buffer.from(value).toString();
}
