// An id of a document has 32 hex digits after `document:`.
import { createHash, randomBytes } from "node:crypto";
import { wrongArgument } from "../errors/arguments.js";

const SCHEME = "document:";

/**
 * A process makes or fetches the document: the same parts give the same id, so a retry stores no second copy. The parts are framed, so
 * ("ab", "c") and ("a", "bc") differ.
 */
export function derivedDocumentId(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/**
 * A client stores the document. The last digits are a check of the others, so that it is known for an upload whatever the files' dates and
 * the database say: nothing that a process fetched looks like one.
 */
export function uploadId(): string {
  return checkedId(randomBytes(12).toString("hex"));
}

/** The same parts give the same id, so an upload that is repeated stores no second copy. */
export function derivedUploadId(...parts: string[]): string {
  return checkedId(derivedDocumentId(...parts).slice(0, 24));
}

export function isUploadId(id: string): boolean {
  return id.slice(24) === checkOf(id.slice(0, 24));
}

function checkedId(chosen: string): string {
  return chosen + checkOf(chosen);
}

function checkOf(chosen: string): string {
  return createHash("sha256").update(`upload:${chosen}`).digest("hex").slice(0, 8);
}

export function uriOf(id: string): string {
  return SCHEME + id;
}

export function documentIdOf(uri: string): string {
  if (!uri.startsWith(SCHEME)) throw wrongArgument("uri", "must be document:<32 hex digits>");
  return uri.slice(SCHEME.length);
}
