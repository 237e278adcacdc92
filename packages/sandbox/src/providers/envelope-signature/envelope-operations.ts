// The three steps over two hosts (P1 §4.5); shapes beyond the names of P1 §2.10 are assumed: not shown.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import { unknownWords } from "../../exchange/magic.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import { refusal as caRefusal } from "../../exchange/refusal.js";
import {
  describeCreation,
  readRequestMagic,
  type EnvelopeFile,
  type EnvelopeService,
} from "./envelope-service.js";

/** Error bodies of the envelope host: not shown (P1 §7.3), so shape and codes are the sandbox's own. */
export const envelopeRefusal = (status: number, ErrorId: string, Message: string): Answer =>
  jsonAnswer(status, { ErrorId, Message });

const invalid = (message: string): Answer => envelopeRefusal(400, "Invalid", message);

/** `<intent>--name.pdf` */
function intentOfName(name: string): string | null {
  const end = name.indexOf("--");
  return end > 0 ? name.slice(0, end) : null;
}

export function envelopeOperations(envelopes: EnvelopeService): Operation[] {
  const { documents, options } = envelopes.parts;

  function create(call: Call): Answer {
    const { body, account, at } = call;
    if (!isObject(body)) return caRefusal(400, "invalid", "the body must be a JSON object");
    const magic = readRequestMagic(body);
    const unknown = unknownWords(magic);
    if (unknown !== undefined) return caRefusal(400, "SandboxMagic", unknown);
    const { intent, magicKey } = describeCreation(call);
    const words = magic?.words ?? [];
    const request = envelopes.create({ intent, magicKey, words }, account, at);
    return jsonAnswer(200, { req_pk: request.id, esaw_token: request.token });
  }

  function upload({ form, account, at }: Call): Answer {
    const [part, ...more] = form ?? [];
    if (part?.name !== "File" || part.fileName === undefined || more.length > 0)
      return invalid("the body must be multipart/form-data with one part `File` that has a name");
    const { fileName: name, bytes } = part;
    if (bytes.length === 0) return invalid("File: is empty");
    if (bytes.length > options.maxDocumentBytes) return invalid("File: is too large");
    const given = { intent: intentOfName(name), name, sha256: documents.put(bytes) };
    return jsonAnswer(200, { FileId: envelopes.keep(given, account, at).id });
  }

  function send({ body, account, at }: Call): Answer {
    const envelope = checkEnvelope(body);
    if (typeof envelope === "string") return invalid(envelope);
    const files: EnvelopeFile[] = [];
    for (const [index, fileId] of envelope.fileIds.entries()) {
      const file = envelopes.files.get(fileId);
      if (file?.account !== account.username) return invalid(`Documents[${index}].FileId: unknown`);
      files.push(file);
    }
    const request = envelopes.requestOfToken(envelope.requestToken);
    if (request?.account !== account.username) return invalid("requestToken: unknown");
    if (request.envelope) return invalid("requestToken: used");
    const EnvelopeId = envelopes.send(request, files, at);
    return jsonAnswer(200, request.words.includes("no-envelope-id") ? {} : { EnvelopeId });
  }

  function describeUpload({ form }: Arrival) {
    const intent = intentOfName(form?.[0]?.fileName ?? "");
    const request = intent === null ? undefined : envelopes.requests.newestOf(intent);
    return describeIntent(intent, request?.magicKey);
  }

  function describeSend({ body }: Arrival) {
    const token = tokenOf(fieldsOf(body)["Activities"]);
    const request = envelopes.requestOfToken(token);
    return describeIntent(request?.intent ?? null, request?.magicKey);
  }

  return [
    {
      name: "esawoneshot",
      route: "POST /api/v1/esawoneshot",
      needsClientCertificate: true,
      describe: describeCreation,
      perform: create,
      refuse: (status, code, message) => caRefusal(status, String(code), message),
    },
    {
      name: "upload",
      route: "POST /Api/v6/file/upload",
      describe: describeUpload,
      perform: upload,
    },
    {
      name: "send",
      route: "POST /Api/v6/envelope/send",
      describe: describeSend,
      perform: send,
    },
  ];
}

interface CheckedEnvelope {
  /** In the order of their documents. */
  fileIds: string[];
  requestToken: string;
}

/** The type of the Sign activity, `<VENDOR>` replaced by a name. */
const signType = /^GenericSigningPlugin[\w.-]+OneShot$/;

/** A string says what is wrong. */
function checkEnvelope(body: unknown): CheckedEnvelope | string {
  const { Documents: documents, Activities: activities } = fieldsOf(body);
  if (!Array.isArray(documents) || documents.length === 0) return "Documents: is required";
  const fileIds: string[] = [];
  for (const [index, document] of documents.entries()) {
    const { FileId, DocumentNumber } = fieldsOf(document);
    const at = `Documents[${index}]`;
    if (typeof FileId !== "string" || FileId === "") return `${at}.FileId: is required`;
    if (fileIds.includes(FileId)) return `${at}.FileId: stands twice`;
    if (DocumentNumber !== index + 1) return `${at}.DocumentNumber: must be ${index + 1}`;
    fileIds.push(FileId);
  }
  const requestToken = tokenOf(activities);
  return typeof requestToken === "string" ? { fileIds, requestToken } : requestToken.problem;
}

function tokenOf(activities: unknown): string | { problem: string } {
  if (!Array.isArray(activities)) return { problem: "Activities: is required" };
  const signs = activities
    .map((activity) => fieldsOf(fieldsOf(activity)["Action"])["Sign"])
    .filter((sign) => sign !== undefined);
  if (signs.length !== 1) return { problem: "Activities: must hold one Sign" };
  const { Type, requestToken } = fieldsOf(signs[0]);
  if (typeof Type !== "string" || !signType.test(Type))
    return { problem: `Activities: Sign.Type must match ${signType.source}` };
  return typeof requestToken === "string" && requestToken !== ""
    ? requestToken
    : { problem: "Activities: Sign.requestToken is required" };
}
