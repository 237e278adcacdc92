// HMAC-SHA-256 with a key id in front: `<key id>.<hex>`. Each label has a key of its own, derived by HKDF.
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isKeyId } from "./key-ring.js";
import type { Key, KeyRing } from "./key-ring.js";

export function keyedDigest(ring: KeyRing, label: string, data: string | Uint8Array): string {
  return `${ring.active.id}.${mac(ring.active, label, data).toString("hex")}`;
}

/** False too when the ring no longer has the digest's key. */
export function verifyKeyedDigest(
  ring: KeyRing,
  label: string,
  data: string | Uint8Array,
  digest: string,
): boolean {
  const keyId = keyIdOf(digest);
  const key = ring.get(keyId);
  if (key === undefined) return false;
  const expected = Buffer.from(mac(key, label, data).toString("hex"));
  const given = Buffer.from(digest.slice(keyId.length + 1));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** True if the digest names a key, and the ring does not have it. */
export function lacksKeyOf(ring: KeyRing, digest: string): boolean {
  const keyId = keyIdOf(digest);
  return isKeyId(keyId) && ring.get(keyId) === undefined;
}

function keyIdOf(digest: string): string {
  const [keyId = ""] = digest.split(".", 1);
  return keyId;
}

function mac(key: Key, label: string, data: string | Uint8Array): Buffer {
  return createHmac("sha256", derivedKey(key, label)).update(data).digest();
}

// Deriving costs several times what the digest itself does; labels are few and fixed.
const derivedKeys = new WeakMap<Key, Map<string, KeyObject>>();

function derivedKey(key: Key, label: string): KeyObject {
  let byLabel = derivedKeys.get(key);
  if (byLabel === undefined) derivedKeys.set(key, (byLabel = new Map()));
  let derived = byLabel.get(label);
  if (derived === undefined) {
    const bytes = hkdfSync("sha256", key.bytes, "", `trustflow:${label}`, 32);
    byLabel.set(label, (derived = createSecretKey(Buffer.from(bytes))));
  }
  return derived;
}
