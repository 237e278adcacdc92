// Encryption at rest of small values: a sealed value names the key that opens it, and opens only in the context it was sealed for.
// sealed-stream.ts is for values of any size.
// Layout: version (1 byte), length of the key id (1 byte), key id, then IV, ciphertext and tag.
import { decrypt, encrypt } from "./aes-gcm.js";
import { DecryptionError } from "./errors.js";
import type { Key, KeyRing } from "./key-ring.js";

const OF_RING = 1;
// 2 is a sealed box (sealed-box.ts).
const OF_PROCESS = 3;
/** A value sealed in chunks has the same first fields and its own versions (sealed-stream.ts). */
export const STREAM_OF_RING = 4;
export const STREAM_OF_PROCESS = 5;
const HEADER_BYTES = 2;

export function seal(ring: KeyRing, plaintext: Uint8Array, context: string): Buffer {
  return sealAs(OF_RING, ring.active, plaintext, context);
}

export function open(ring: KeyRing, sealed: Uint8Array, context: string): Buffer {
  const { keyId, body } = partsOf(OF_RING, sealed);
  return decrypt(ring.require(keyId).bytes, body, Buffer.from(context));
}

/** With the data key of a process (data-key.ts). */
export function sealForProcess(key: Key, plaintext: Uint8Array, context: string): Buffer {
  return sealAs(OF_PROCESS, key, plaintext, context);
}

export function openForProcess(key: Key, sealed: Uint8Array, context: string): Buffer {
  const { keyId, body } = partsOf(OF_PROCESS, sealed);
  if (keyId !== key.id)
    throw new DecryptionError("it is sealed with the data key of another process");
  return decrypt(key.bytes, body, Buffer.from(context));
}

/** The id of the data key that opens the value, sealed as a whole or in chunks; undefined if a key ring opens it. */
export function dataKeyOf(sealed: Uint8Array): string | undefined {
  const [version] = sealed;
  const isOfProcess = version === OF_PROCESS || version === STREAM_OF_PROCESS;
  return isOfProcess ? partsOf(version, sealed).keyId : undefined;
}

function sealAs(version: number, { id, bytes }: Key, plaintext: Uint8Array, context: string) {
  const keyId = Buffer.from(id);
  return Buffer.concat([
    Buffer.of(version, keyId.length),
    keyId,
    encrypt(bytes, plaintext, Buffer.from(context)),
  ]);
}

function partsOf(expected: number, sealed: Uint8Array): { keyId: string; body: Uint8Array } {
  const [version, idLength] = sealed;
  if (version !== expected || idLength === undefined)
    throw new DecryptionError("not a sealed value");
  const bodyAt = HEADER_BYTES + idLength;
  const keyId = Buffer.from(sealed.subarray(HEADER_BYTES, bodyAt)).toString();
  return { keyId, body: sealed.subarray(bodyAt) };
}
