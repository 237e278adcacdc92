// The three steps over two hosts (P1 §4.5); shapes beyond the names of P1 §2.10 are assumed: not shown.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import type { EnvelopeFile } from "./certificate-request.js";
import { checkEnvelope, tokenOf } from "./envelope.js";
import type { EnvelopeService } from "./envelope-service.js";
import { describeCreation, readRequestMagic } from "./magic.js";
import { refusal as caRefusal } from "../../exchange/refusal.js";
import { envelopeRefusal } from "./refusal.js";

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
    if (magic && magic.unknown.length > 0)
      return caRefusal(400, "SandboxMagic", `unknown magic value: ${magic.unknown.join(", ")}`);
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
      const file = envelopes.file(fileId);
      if (file?.account !== account.username) return invalid(`Documents[${index}].FileId: unknown`);
      files.push(file);
    }
    const request = envelopes.requestOfToken(envelope.requestToken);
    if (request?.account !== account.username) return invalid("requestToken: unknown");
    if (request.envelope) return invalid("requestToken: used");
    const EnvelopeId = envelopes.send(request, files, account, at);
    return jsonAnswer(200, request.words.includes("no-envelope-id") ? {} : { EnvelopeId });
  }

  function describeUpload({ form }: Arrival) {
    const intent = intentOfName(form?.[0]?.fileName ?? "");
    const request = intent === null ? undefined : envelopes.requestOfIntent(intent);
    return describeIntent(intent, request?.magicKey);
  }

  function describeSend({ body }: Arrival) {
    const token = tokenOf(fieldsOf(body)["Activities"]);
    const request = typeof token === "string" ? envelopes.requestOfToken(token) : undefined;
    return describeIntent(request?.intent ?? null, request?.magicKey);
  }

  return [
    {
      name: "esawoneshot",
      method: "POST",
      path: "/api/v1/esawoneshot",
      needsClientCertificate: true,
      describe: describeCreation,
      perform: create,
      refuse: (status, code, message) => caRefusal(status, String(code), message),
    },
    {
      name: "upload",
      method: "POST",
      path: "/Api/v6/file/upload",
      describe: describeUpload,
      perform: upload,
    },
    {
      name: "send",
      method: "POST",
      path: "/Api/v6/envelope/send",
      describe: describeSend,
      perform: send,
    },
  ];
}
