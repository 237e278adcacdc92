// The digest by which a second start under the same id is known as the same, or refused (DESIGN §2): keyed, over RFC 8785
// JSON, each document as its SHA-256.
import { createHash } from "node:crypto";
import { keyedDigest, verifyKeyedDigest } from "../crypto/hmac.js";
import { canonicalJson } from "../crypto/json-digest.js";
import type { KeyRing } from "../crypto/key-ring.js";

const label = "input";

export function inputDigest(ring: KeyRing, input: unknown): string {
  return keyedDigest(ring, label, canonicalJson(withHashes(input)));
}

/** Throws where the digest's key is gone: then nobody can say. */
export function sameInput(ring: KeyRing, input: unknown, digest: string): boolean {
  ring.require(digest.slice(0, digest.indexOf(".")));
  return verifyKeyedDigest(ring, label, canonicalJson(withHashes(input)), digest);
}

/** A document is its content, however it travels. */
function withHashes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withHashes);
  if (typeof value !== "object" || value === null) return value;
  if ("sha256" in value && "uri" in value) return { sha256: value.sha256 };
  if ("base64" in value && typeof value.base64 === "string") {
    const bytes = Buffer.from(value.base64, "base64");
    return { sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withHashes(part)]));
}
