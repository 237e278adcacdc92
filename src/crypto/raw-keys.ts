// X25519 and Ed25519 keys as their 32 raw bytes. The DER around them is the same for every key of an algorithm (RFC 8410).
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

export const KEY_BYTES = 32;
/** Each is the last byte of the algorithm's object identifier. */
const algorithms = { x25519: "6e", ed25519: "70" } as const;
type Algorithm = keyof typeof algorithms;

export function privateKeyOf(algorithm: Algorithm, raw: Buffer): KeyObject {
  const before = Buffer.from(`302e020100300506032b65${algorithms[algorithm]}04220420`, "hex");
  return createPrivateKey({ key: Buffer.concat([before, raw]), format: "der", type: "pkcs8" });
}

export function publicKeyOf(algorithm: Algorithm, raw: Buffer): KeyObject {
  const before = Buffer.from(`302a300506032b65${algorithms[algorithm]}032100`, "hex");
  return createPublicKey({ key: Buffer.concat([before, raw]), format: "der", type: "spki" });
}

export function rawOf(key: KeyObject): Buffer {
  const der =
    key.type === "private"
      ? key.export({ format: "der", type: "pkcs8" })
      : key.export({ format: "der", type: "spki" });
  return der.subarray(-KEY_BYTES);
}
