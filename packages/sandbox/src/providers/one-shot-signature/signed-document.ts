// Creates the signed version of an uploaded document, again for each request, from the stored data.
import type { SandboxParts } from "../../engine/parts.js";
import { pdf } from "../../exchange/pdf.js";
import type { SignatureRequest, UploadedDocument } from "./signature-request.js";

/**
 * A file: a PDF that holds the uploaded bytes unchanged. A hash: a detached signature over it. Neither is a real one. With
 * the word `same-bytes` the document's name is not in it, so that equal content is signed alike.
 */
export function signedDocument(
  request: SignatureRequest,
  { name: ownName, sha256, isHash }: UploadedDocument,
  documents: SandboxParts["documents"],
): Buffer {
  const name = request.words.includes("same-bytes") ? "document" : ownName;
  const lines = [
    isHash ? "Detached signature" : "Signed document",
    "Trustflow sandbox: no real signature",
    "",
    `Request ${request.id}`,
    `Document ${name}`,
    `SHA-256 ${sha256}`,
    `Signed ${new Date(request.stateAt).toISOString()}`,
  ];
  if (isHash) return Buffer.from(`${lines.join("\n")}\n`);
  return pdf(lines, { name, bytes: documents.get(sha256) });
}

/** P1 §4.4: the service contract. */
export function contractPdf(request: SignatureRequest): Buffer {
  return pdf([
    "Contract of the one-shot signature service",
    "Trustflow sandbox: binds nobody",
    "",
    `Request ${request.id}`,
    `Created ${new Date(request.createdAt).toISOString()}`,
  ]);
}
