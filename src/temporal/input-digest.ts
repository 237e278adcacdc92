// The digest by which a second start under the same id is known as the same, or refused (docs/design.md §2): keyed, over RFC 8785
// JSON. Its input comes with each document as its SHA-256 already (contracts/definition/compared-input.ts).
import { createHash } from "node:crypto";
import { keyedDigest, verifyKeyedDigest } from "../crypto/hmac.js";
import { canonicalJson } from "../crypto/json-digest.js";
import type { KeyRing } from "../crypto/key-ring.js";

const label = "input";
/** Of an input that the first release would have digested otherwise. */
const wholeLabel = "input whole";

export function inputDigest(ring: KeyRing, input: unknown): string {
  const { text, first } = textsOf(input);
  return keyedDigest(ring, text === first ? label : wholeLabel, text);
}

/** Throws if the key of the digest is missing, because then the comparison is impossible. */
export function sameInput(ring: KeyRing, input: unknown, digest: string): boolean {
  ring.require(digest.slice(0, digest.indexOf(".")));
  const { text, first } = textsOf(input);
  return (
    verifyKeyedDigest(ring, label, first, digest) ||
    (text !== first && verifyKeyedDigest(ring, wholeLabel, text, digest))
  );
}

/** `first`: as the first release wrote it, so that what it has stored is still known. Almost always both are the same. */
function textsOf(input: unknown): { text: string; first: string } {
  return { text: canonicalJson(input), first: canonicalJson(collapsed(input)) };
}

/** The first release treated anything that looked like a document as one, also in the fields that only the provider knows. */
function collapsed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(collapsed);
  if (typeof value !== "object" || value === null) return value;
  if ("sha256" in value && "uri" in value) return { sha256: value.sha256 };
  if ("base64" in value && typeof value.base64 === "string") {
    const bytes = Buffer.from(value.base64, "base64");
    return { sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, collapsed(part)]));
}
