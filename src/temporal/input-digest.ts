// The digest by which a second start under the same id is known as the same, or refused (docs/design.md §2): keyed, over RFC 8785
// JSON. Its input comes with each document as its SHA-256 already (contracts/definition/secret-fields.ts).
import { keyedDigest, verifyKeyedDigest } from "../crypto/hmac.js";
import { canonicalJson } from "../crypto/json-digest.js";
import type { KeyRing } from "../crypto/key-ring.js";

const label = "input";

export function inputDigest(ring: KeyRing, input: unknown): string {
  return keyedDigest(ring, label, canonicalJson(input));
}

/** Throws if the key of the digest is missing, because then the comparison is impossible. */
export function sameInput(ring: KeyRing, input: unknown, digest: string): boolean {
  ring.require(digest.slice(0, digest.indexOf(".")));
  return verifyKeyedDigest(ring, label, canonicalJson(input), digest);
}
