// The id of a document that a process fetches: the same parts give the same id, so a retry stores no second copy.
import { createHash } from "node:crypto";

/** 32 hex digits; the parts are framed, so ("ab", "c") and ("a", "bc") differ. */
export function derivedDocumentId(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
