// Upload of a document or a hash, retrieve and delete (P1 §4.4; paths and shapes are assumed: not shown).
import { createHash } from "node:crypto";
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf } from "../../exchange/checker.js";
import { pdf } from "../../exchange/pdf.js";
import type { Call, Operation } from "../../exchange/operation.js";
import { isVisible } from "../../engine/visibility.js";
import { invalid, notFound, wrongState } from "../../exchange/refusal.js";
import { requestOperation } from "./request-operation.js";
import type {
  SignatureRequest,
  SigningService,
  UploadedDocument,
  UploadedFile,
} from "./signing-service.js";

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** The files of the parts called `file`, kept on the shelf; or why they are refused. */
export function takeFiles(signing: SigningService, { form }: Call): UploadedFile[] | Answer {
  if (!form) return invalid("the body must be multipart/form-data");
  const { documents, options } = signing.parts;
  const files: UploadedFile[] = [];
  for (const { name, fileName, bytes } of form) {
    if (name !== "file" || !fileName) return invalid(`${name}: only parts \`file\` with a name`);
    if (bytes.length === 0) return invalid(`${fileName}: is empty`);
    if (bytes.length > options.maxDocumentBytes) return invalid(`${fileName}: is too large`);
    files.push({ name: fileName, sha256: documents.put(bytes) });
  }
  return files.length > 0 ? files : invalid("file: is required");
}

export function documentOperations(signing: SigningService): Operation[] {
  const { documents } = signing.parts;

  /** A document of the same name is replaced; the ledger shows the repeat. */
  function take(
    operation: "uploadDocument" | "uploadHash",
    request: SignatureRequest,
    document: UploadedDocument,
    at: number,
  ): Answer {
    if (request.areDocumentsDeleted) return notFound("request: its documents are deleted");
    if (request.state !== "created") return wrongState(`the request is ${request.state}`);
    const others = request.documents.filter(({ name }) => name !== document.name);
    request.documents = [...others, document];
    signing.effect(operation, request, at, document.name);
    return jsonAnswer(200, { name: document.name });
  }

  function uploadDocument(request: SignatureRequest, call: Call): Answer {
    const files = takeFiles(signing, call);
    if (!Array.isArray(files)) return files;
    const [file, ...more] = files;
    if (!file || more.length > 0) return invalid("file: one document each time");
    return take("uploadDocument", request, { ...file, isHash: false }, call.at);
  }

  function uploadHash(request: SignatureRequest, { body, at }: Call): Answer {
    const { name, algorithm, hash } = fieldsOf(body);
    if (typeof name !== "string" || name === "") return invalid("name: is required");
    if (algorithm !== "SHA-256") return invalid("algorithm: must be SHA-256");
    if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash))
      return invalid("hash: must be 64 hexadecimal digits");
    const document = { name, sha256: hash.toLowerCase(), isHash: true };
    return take("uploadHash", request, document, at);
  }

  function retrieve(request: SignatureRequest): Answer {
    if (request.areDocumentsDeleted || !isVisible(request)) return notFound("request");
    const list = request.documents.map((document) => {
      const { name, sha256 } = document;
      if (request.state !== "signed") return { name, sha256 };
      const signed = signedDocument(request, document, documents);
      return { name, sha256, signed: signed.toString("base64"), signedSha256: sha256Of(signed) };
    });
    return jsonAnswer(200, { request_pk: request.id, state: request.state, documents: list });
  }

  function deleteDocuments(request: SignatureRequest, { at }: Call): Answer {
    if (request.areDocumentsDeleted) return notFound("request: its documents are deleted");
    if (request.state === "signing") return wrongState("the request is being signed");
    request.areDocumentsDeleted = true;
    signing.effect("deleteDocuments", request, at);
    if (request.state === "created") signing.enter(request, "cancelled", at);
    return emptyAnswer(204);
  }

  return [
    requestOperation(signing, "uploadDocument", "POST", "document/:request_pk", uploadDocument),
    requestOperation(signing, "uploadHash", "POST", "hash/:request_pk", uploadHash),
    requestOperation(signing, "retrieve", "GET", "document/:request_pk", retrieve),
    requestOperation(signing, "deleteDocuments", "DELETE", "document/:request_pk", deleteDocuments),
  ];
}

/**
 * A file: a PDF that holds the uploaded bytes unchanged. A hash: a detached signature over it. Neither is a real one. With
 * the word `same-bytes` the document's name is not in it, so that equal content is signed alike.
 */
function signedDocument(
  request: SignatureRequest,
  { name: ownName, sha256, isHash }: UploadedDocument,
  documents: SigningService["parts"]["documents"],
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
