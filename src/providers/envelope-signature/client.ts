// The envelope-based one-shot signature: one function per endpoint, one HTTP call each. A client certificate on the
// certificate-authority host, an API token on the envelope host (P1 §5.5).
//
// | step           | method and path            | host             | §             | function     | effect class |
// |----------------|----------------------------|------------------|---------------|--------------|--------------|
// | create request | POST /api/v1/esawoneshot   | {ca_base_url}    | P1 §2.10, 4.5 | esawoneshot  | once         |
// | upload file    | POST /Api/v6/file/upload   | {esign_base_url} | P1 §2.10, 4.5 | uploadFile   | repeatable   |
// | send envelope  | POST /Api/v6/envelope/send | {esign_base_url} | P1 §2.10, 4.5 | sendEnvelope | once         |
//
// No call that shows an envelope's state, and no event, is specified (P1 §3, §6.3). Every function throws ProviderError only:
// what each status means stands in translate.ts, what a failed connection means in ../http/exchange.ts.
import { shownValue } from "../http/answer.js";
import { json, jsonOrEmpty } from "../http/described.js";
import { fileForm } from "../http/file-form.js";
import type { NamedFile } from "../http/file-form.js";
import type { EnvelopeSignatureAccount } from "./account.js";
import {
  CreateAnswer,
  SendAnswer,
  UploadAnswer,
  assumed,
  routes,
  API_TOKEN_HEADER,
} from "./wire.js";
import type { EnvelopeDocument } from "./wire.js";
import { call } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { EnvelopeOperation } from "./effects.js";
import { operationOf, refusal } from "./translate.js";

export type { EnvelopeSignatureAccount } from "./account.js";

/**
 * P1 §4.5, rule 1; the request is sent as it is, `esawToken` is a secret. 400 `invalidRequest`; 408, 409, 5xx, no answer and
 * another 2xx `unknownOutcome`; a `req_pk` that it shows all the same is the error's `reference`.
 */
export async function esawoneshot(
  account: EnvelopeSignatureAccount,
  request: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<{ reqPk: string; esawToken: string }> {
  const sent = { ...routes.esawoneshot, json: request, signal };
  const described = json(CreateAnswer, {
    isSecret: true,
    reference: (answer) => shownValue(answer, "req_pk"),
  });
  const { value } = await call(operationOf("esawoneshot"), account.ca, sent, described, (answer) =>
    refusal("esawoneshot", answer),
  );
  return { reqPk: value.req_pk, esawToken: value.esaw_token };
}

/** P1 §4.5, rule 2: once per document. 400 `protocol`; 408, 409, 5xx, no answer and another 2xx `unavailable`: repeat it. */
export async function uploadFile(
  account: EnvelopeSignatureAccount,
  file: NamedFile,
  signal?: AbortSignal,
): Promise<{ fileId: string }> {
  const form = fileForm(account.filePart, [file]);
  const request = { ...routes.uploadFile, form, signal };
  const { value } = await callEnvelopeHost(account, "uploadFile", request, json(UploadAnswer));
  return { fileId: value.FileId };
}

/**
 * P1 §2.10, §4.5, rule 3: the documents in the order given, one Sign activity, and the caller's own members beside them. 400
 * `protocol`; 408, 409, 5xx, no answer and another 2xx `unknownOutcome`. That it was sent is all that a 2xx says: it may come
 * without an id.
 */
export async function sendEnvelope(
  account: EnvelopeSignatureAccount,
  {
    documents,
    esawToken,
    envelope,
  }: {
    documents: readonly EnvelopeDocument[];
    esawToken: string;
    envelope: Record<string, unknown>;
  },
  signal?: AbortSignal,
): Promise<{ envelopeId?: string }> {
  const body = {
    ...envelope,
    Documents: assumed.documents(documents),
    Activities: assumed.activities(account.vendor, esawToken),
  };
  const request = { ...routes.sendEnvelope, json: body, tokens: [esawToken], signal };
  const described = jsonOrEmpty(SendAnswer, { isSecret: true, spelling: account });
  const { value } = await callEnvelopeHost(account, "sendEnvelope", request, described);
  return value?.EnvelopeId ? { envelopeId: value.EnvelopeId } : {};
}

/** One HTTP call to the envelope host; throws for what is no described answer. `tokens`: what it carries besides the API token. */
export async function callEnvelopeHost<T>(
  account: EnvelopeSignatureAccount,
  operation: EnvelopeOperation,
  { tokens = [], ...request }: Request & { tokens?: readonly string[] },
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.apiToken.reveal();
  const headers = { ...request.headers, [API_TOKEN_HEADER]: token };
  const sent = { credentials: [token, ...tokens] };
  return call(
    operationOf(operation),
    account.esign,
    { ...request, headers, sent },
    described,
    (answer) => refusal(operation, answer),
  );
}
