// A document is its content, however it travels: what digests take of it.
import { createHash } from "node:crypto";
import type { DocumentInput } from "../contracts/shared/values.js";

export function contentOf(document: DocumentInput): { sha256: string } {
  if ("sha256" in document) return { sha256: document.sha256 };
  return { sha256: sha256Of(Buffer.from(document.base64, "base64")) };
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Whether the bytes begin as a PDF does. */
export function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, 5).toString("latin1") === "%PDF-";
}
