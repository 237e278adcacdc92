// Encrypts whole payloads, on the wire the same as the encryption samples of Temporal's other SDKs: `binary/encrypted`,
// the key's id beside it, the serialised payload sealed with AES-256-GCM.
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import proto from "@temporalio/proto";
import { decrypt, encrypt } from "../../crypto/aes-gcm.js";
import { DecryptionError } from "../../crypto/errors.js";
import type { KeyRing, Key } from "../../crypto/key-ring.js";
import { createHmac, timingSafeEqual } from "node:crypto";

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

const WRITE_KEY_ID = "trustflow-write-key-id";
const TAG = "trustflow-write-tag";

/**
 * Proves that a payload was written with `keys.codecWrite` for its process (decision 22). A holder of only `keys.codec` can read, and could
 * encrypt too, so encryption alone is not a proof. HMAC-SHA-256 over namespace, workflow id and the encrypted data.
 */
class WriteTags {
  readonly #ring: KeyRing;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /** The metadata that goes beside encrypted data. */
  of(data: Uint8Array, context: SerializationContext | undefined): Record<string, Uint8Array> {
    const { active } = this.#ring;
    return { [WRITE_KEY_ID]: Buffer.from(active.id), [TAG]: tag(active, data, context) };
  }

  isValid({ metadata, data }: Payload, context: SerializationContext | undefined): boolean {
    const key = this.#ring.get(Buffer.from(metadata?.[WRITE_KEY_ID] ?? []).toString());
    const given = metadata?.[TAG];
    if (!key || !given) return false;
    const expected = tag(key, data ?? new Uint8Array(), context);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/** For a payload without a process, such as the Web UI's, the process is empty; no worker accepts it. */
function tag(
  { bytes }: Key,
  data: Uint8Array,
  { namespace = "", workflowId = "" }: Partial<SerializationContext> = {},
): Buffer {
  return createHmac("sha256", bytes)
    .update(`trustflow\n${namespace}\n${workflowId}\n`)
    .update(data)
    .digest();
}
