// AES-256-GCM in the layout of Temporal's encryption samples: 12-byte IV, ciphertext, 16-byte tag.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { DecryptionError } from "./errors.js";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** The sealed bytes are longer than the plaintext by this. */
export const OVERHEAD_BYTES = IV_BYTES + TAG_BYTES;

export function encrypt(key: Buffer, plaintext: Uint8Array, aad?: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  if (aad !== undefined) cipher.setAAD(aad);
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(key: Buffer, sealed: Uint8Array, aad?: Uint8Array): Buffer {
  if (sealed.length < OVERHEAD_BYTES) throw new DecryptionError("the ciphertext is cut short");
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(tagAt));
  if (aad !== undefined) decipher.setAAD(aad);
  const plaintext = decipher.update(sealed.subarray(IV_BYTES, tagAt));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new DecryptionError(
      "the ciphertext does not belong to this key and context, or was changed",
    );
  }
}
