// Encryption at rest: a sealed value says which key opens it, and opens only in the context it was sealed for.
// Layout: version (1 byte), length of the key id (1 byte), key id, then IV, ciphertext and tag.
import { decrypt, encrypt } from "./aes-gcm.js";
import { DecryptionError } from "./errors.js";
import type { KeyRing } from "./key-ring.js";

export { DecryptionError, UnknownKeyError } from "./errors.js";

const VERSION = 1;
const HEADER_BYTES = 2;

export function seal(ring: KeyRing, plaintext: Uint8Array, context: string): Buffer {
  const { id, bytes } = ring.active;
  const keyId = Buffer.from(id);
  return Buffer.concat([
    Buffer.of(VERSION, keyId.length),
    keyId,
    encrypt(bytes, plaintext, Buffer.from(context)),
  ]);
}

export function open(ring: KeyRing, sealed: Uint8Array, context: string): Buffer {
  const [version, idLength] = sealed;
  if (version !== VERSION || idLength === undefined)
    throw new DecryptionError("not a sealed value");
  const bodyAt = HEADER_BYTES + idLength;
  const keyId = Buffer.from(sealed.subarray(HEADER_BYTES, bodyAt)).toString();
  return decrypt(ring.require(keyId).bytes, sealed.subarray(bodyAt), Buffer.from(context));
}
