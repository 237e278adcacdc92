// A document is its content, however it travels: what digests take of it.
import { createHash } from "node:crypto";
import type { DocumentInput } from "../contracts/shared/values.js";

export function contentOf(document: DocumentInput): { sha256: string } {
  if ("sha256" in document) return { sha256: document.sha256 };
  const bytes = Buffer.from(document.base64, "base64");
  return { sha256: createHash("sha256").update(bytes).digest("hex") };
}
