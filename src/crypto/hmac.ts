// HMAC-SHA-256 with a key id in front: `<key id>.<hex>`. Each label has a key of its own, derived by HKDF.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
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
  const dot = digest.indexOf(".");
  const key = ring.get(digest.slice(0, Math.max(dot, 0)));
  if (key === undefined) return false;
  const expected = Buffer.from(mac(key, label, data).toString("hex"));
  const given = Buffer.from(digest.slice(dot + 1));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function mac(key: Key, label: string, data: string | Uint8Array): Buffer {
  const derived = hkdfSync("sha256", key.bytes, "", `trustflow:${label}`, 32);
  return createHmac("sha256", Buffer.from(derived)).update(data).digest();
}
