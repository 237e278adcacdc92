// RFC 8785: one text for one JSON value, whatever the order of its keys, so that it can be hashed.
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { keyedDigest, verifyKeyedDigest } from "./hmac.js";
import type { KeyRing } from "./key-ring.js";

// The package is CommonJS and exports the function itself; its types declare an ES module's default export.
const serialize = canonicalize as unknown as typeof canonicalize.default;

export function canonicalJson(value: unknown): string {
  const text = serialize(value);
  if (text === undefined) throw new TypeError("the value cannot be written as JSON");
  return text;
}

/** Hex SHA-256, for what holds no secret: a keyed digest would hide it better. */
export function jsonDigest(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

const label = "input";

/**
 * By it a second start under the same id is known as the same, or refused (docs/design.md §2). Its input comes with each document as its
 * SHA-256 already (contracts/definition/secret-fields.ts).
 */
export function inputDigest(ring: KeyRing, input: unknown): string {
  return keyedDigest(ring, label, canonicalJson(input));
}

/** Throws if the key of the digest is missing, because then the comparison is impossible. */
export function sameInput(ring: KeyRing, input: unknown, digest: string): boolean {
  ring.require(digest.slice(0, digest.indexOf(".")));
  return verifyKeyedDigest(ring, label, canonicalJson(input), digest);
}
