// The ids of documents: 32 hex digits after `document:`.
import { createHash } from "node:crypto";

const SCHEME = "document:";

/**
 * Of a document that a process makes or fetches: the same parts give the same id, so a retry stores no second copy. The parts
 * are framed, so ("ab", "c") and ("a", "bc") differ.
 */
export function derivedDocumentId(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

export function uriOf(id: string): string {
  return SCHEME + id;
}

export function documentIdOf(uri: string): string {
  if (!uri.startsWith(SCHEME)) throw new TypeError("a document's uri must start with document:");
  return uri.slice(SCHEME.length);
}
