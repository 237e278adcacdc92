// The video identification service (P1 §1.2, §4.2): one function per endpoint, one HTTP call each. The key, or the token of a
// call, travels in a header and nowhere else (P1 §5.2).
//
// | operation            | method and path                      | credential | function           | effect class |
// |----------------------|--------------------------------------|------------|--------------------|--------------|
// | call token           | GET    /api/authenticate/genAPIToken | `apikey`   | genAPIToken        | read         |
// | reject a call        | PATCH  /api/v2/rejectCall            | `apikey`   | rejectCall         | once         |
// | asynchronous request | GET    /api/v2/getAsyncRequestInfo   | `apikey`   | getAsyncRequestInfo| read         |
// | alert addresses      | POST   /api/v2/registerAlertEmail    | `apikey`   | registerAlertEmail | repeatable   |
// | conference data      | GET    /api/v2/conferenceData        | token      | conferenceData     | read         |
// | audit data           | GET    /api/v2/getAuditData          | token      | getAuditData       | read         |
// | delete audit data    | DELETE /api/v2/deleteAuditData       | token      | deleteAuditData    | repeatable   |
// | call-closing event   | comes to us: callback.ts             | –          | –                  | –            |
//
// Answers, and the requests of five operations, are not shown (P1 §4.2): wire.ts has what is assumed. Conference and audit data
// are personal: no error shows anything of them. Every function throws ProviderError only: what each status means stands in
// translate.ts, what a failed connection means in ../http/exchange.ts.
import { holdsJwt, isCredentialName } from "../../contracts/shared/text.js";
import { ProviderError } from "../errors/provider-error.js";
import { misuseError, noFileError } from "../http/answer.js";
import {
  AnswerMismatch,
  isJsonType,
  json,
  jsonOrEmpty,
  keptFile,
  mediaTypeOf,
  open,
} from "../http/described.js";
import type { Described } from "../http/described.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { valueAt } from "../http/json-pointer.js";
import type { VideoIdentificationAccount } from "./account.js";
import { isError, operationOf, refusal } from "./translate.js";
import {
  AnyObject,
  auditMediaType,
  CallToken,
  CONFERENCE,
  routes,
  TokenAnswer,
  wordOf,
  API_KEY_HEADER,
} from "./wire.js";
import type { Secret } from "../../contracts/shared/values.js";
import { call } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import type { VideoOperation } from "./effects.js";

export type { VideoIdentificationAccount } from "./account.js";

/** Holds what the conference data say where the account's pointers are; all else of them is in `body` alone. */
export interface Conference {
  /** The id of the conference that they are about. */
  idConference?: string | undefined;
  /** `open`, `closed`, `rejected`, or the provider's own word. */
  state?: string | undefined;
  /** `verified`, `notVerified`, or the provider's own word. */
  verdict?: string | undefined;
  /** The data as they came: JSON. */
  body: Buffer;
}

/**
 * P1 §4.2; the token is a secret. 404 `notVisibleYet`; an answer without a token `protocol`, and nothing of it is shown.
 */
export async function genAPIToken(
  account: VideoIdentificationAccount,
  idConference: string,
  signal?: AbortSignal,
): Promise<{ token: string }> {
  const parameters = [[CONFERENCE, idConference]] as const;
  const headers = { accept: "application/json, text/plain" };
  const request = { ...routes.genAPIToken, parameters, headers, signal };
  const { value } = await callWithKey(account, "genAPIToken", request, newToken(account));
  return { token: value.token };
}

/**
 * P1 §4.2, the query assumed; `fields` is the body. 400 `invalidRequest`; 408, 409, 5xx, another 2xx and no answer
 * `unknownOutcome`.
 */
export async function rejectCall(
  account: VideoIdentificationAccount,
  { idConference, fields = {} }: { idConference: string; fields?: Record<string, unknown> },
  signal?: AbortSignal,
): Promise<void> {
  const parameters = [[CONFERENCE, idConference]] as const;
  const request = { ...routes.rejectCall, parameters, json: fields, signal };
  await callWithKey(account, "rejectCall", request, notShown);
}

/**
 * P1 §4.2, the query assumed: `parameters` in place of the conference's id, where the caller has some. `state` is `asyncDone`, the
 * provider's own word, or undefined. 404 `notVisibleYet`.
 */
export async function getAsyncRequestInfo(
  account: VideoIdentificationAccount,
  {
    idConference,
    parameters = { [CONFERENCE]: idConference },
  }: { idConference: string; parameters?: Readonly<Record<string, string>> },
  signal?: AbortSignal,
): Promise<{ state?: string }> {
  const query = Object.entries(parameters);
  if (query.some(([name, value]) => isCredentialName(name) || holdsJwt(value)))
    throw misuseError(operationOf("getAsyncRequestInfo"), "a credential must not be in the query");
  const request = { ...routes.getAsyncRequestInfo, parameters: query, signal };
  const { value } = await callWithKey(account, "getAsyncRequestInfo", request, Data);
  const { asyncDone } = account.words;
  const state = wordOf(shownAt(value, account.pointers.asyncState), { asyncDone });
  return state === undefined ? {} : { state };
}

/**
 * P1 §4.2, rules 1–4: the addresses take the place of those registered before for this `processId`; none removes them. 400
 * `invalidRequest`; 408, 409, 5xx, another 2xx and no answer `unavailable`: repeat it.
 */
export async function registerAlertEmail(
  account: VideoIdentificationAccount,
  { processId, emails }: { processId: string; emails: readonly string[] },
  signal?: AbortSignal,
): Promise<void> {
  // It would be several addresses, or remove all of them.
  if (emails.some((email) => email.trim() === "" || email.includes(",")))
    throw misuseError(operationOf("registerAlertEmail"), "an address is empty or has a comma");
  const body = { processId, email: emails.join(",") };
  const request = { ...routes.registerAlertEmail, json: body, signal };
  await callWithKey(account, "registerAlertEmail", request, notShown);
}

/**
 * P1 §4.2, the query assumed. 401, 403 `accessDenied`, which is about this token alone; 404 `notVisibleYet`; no
 * JSON object, or more than 1 MB, `protocol`.
 */
export async function conferenceData(
  account: VideoIdentificationAccount,
  of: OfConference,
  signal?: AbortSignal,
): Promise<Conference> {
  const request = { ...routes.conferenceData, ...of, signal };
  const { value, body } = await callWithToken(account, "conferenceData", request, Data);
  const { pointers, words } = account;
  const { closed, rejected, verified, notVerified } = words;
  const idConference = shownAt(value, pointers.conference);
  const state = wordOf(shownAt(value, pointers.state), { open: words.open, closed, rejected });
  const verdict = wordOf(shownAt(value, pointers.verdict), { verified, notVerified });
  return { idConference, state, verdict, body };
}

/**
 * P1 §4.2, the query assumed; the data go to `keepIn`. `mediaType` is that of their first bytes. 404 and an empty answer
 * `notVisibleYet`; a web page and an error `protocol`; 401, 403 as for `conferenceData`.
 */
export async function getAuditData(
  account: VideoIdentificationAccount,
  of: OfConference,
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<{ file: KeptFile; mediaType: string }> {
  const headers = { accept: "*/*" };
  const request = { ...routes.getAuditData, ...of, headers, keepIn, signal };
  const answer = await callWithToken(account, "getAuditData", request, Audit);
  const { value: file, body } = answer;
  if (file === undefined) throw noFileError(operationOf("getAuditData"), answer);
  return { file, mediaType: auditMediaType(body) };
}

/**
 * P1 §4.2, the query assumed. 404 says that the data are gone: success, but only where an earlier call may have deleted them
 * (`isRepetition`), else `protocol`. 408, 409, 5xx, another 2xx and no answer `unavailable`: repeat it.
 */
export async function deleteAuditData(
  account: VideoIdentificationAccount,
  { isRepetition, ...of }: OfConference & { isRepetition: boolean },
  signal?: AbortSignal,
): Promise<void> {
  try {
    const request = { ...routes.deleteAuditData, ...of, signal };
    await callWithToken(account, "deleteAuditData", request, notShown);
  } catch (error) {
    const isGone = error instanceof ProviderError && [404, 410].includes(error.status ?? 0);
    if (!isGone || !isRepetition) throw error;
  }
}

const openObject = jsonOrEmpty(AnyObject);

/** A JSON object that reports no error. No error of ours shows anything of it. */
const Data: Described<object> = {
  isSecret: true,
  read: (answer) => openObject.read(answer) ?? new AnswerMismatch("empty", "without a body"),
};

/** P1 §4.2: not shown; JSON, or the bare token, whatever its media type. */
function newToken(account: VideoIdentificationAccount): Described<{ token: string }> {
  const inJson = json(TokenAnswer, { isSecret: true, spelling: account });
  return {
    isSecret: true,
    read(answer) {
      const bare = CallToken.safeParse(answer.body.toString("utf8").trim());
      return bare.success ? { token: bare.data } : inJson.read(answer);
    },
  };
}

/** Any media type but a web page's; an error may come with a 200 too. */
const Audit: Described<KeptFile | undefined> = {
  isSecret: true,
  read(answer) {
    const kept = keptFile("the audit data", (type) => type !== "text/html").read(answer);
    if (kept instanceof AnswerMismatch || kept === undefined) return kept;
    const type = mediaTypeOf(answer);
    if ((type === undefined || isJsonType(type)) && isError(answer.body))
      return new AnswerMismatch("error", "with an error instead of the audit data");
    return kept;
  },
};

const shownAt = (value: unknown, pointer: string | undefined) =>
  pointer === undefined ? undefined : valueAt(value, pointer);

/** Both are the provider's. */
export interface OfConference {
  idConference: string;
  token: Secret;
}

/** One HTTP call with the account's key; throws for what is no described answer. */
export async function callWithKey<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  const key = account.apiKey.reveal();
  const headers = { ...request.headers, [API_KEY_HEADER]: key };
  return send(account, operation, { ...request, headers, sent: { credentials: [key] } }, described);
}

/** One HTTP call with the token of a call; throws for what is no described answer. */
export async function callWithToken<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  { idConference, token: secret, ...request }: Request & OfConference,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = secret.reveal();
  // It would break the header, or be another credential than the one that is meant.
  if (!CallToken.safeParse(token).success)
    throw misuseError(operationOf(operation), "the token of the call is no JWT");
  const { conferenceParameter: name } = account;
  const parameters = name === undefined ? [] : [[name, idConference] as const];
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const sent = { credentials: [token] };
  return send(account, operation, { ...request, parameters, headers, sent }, described);
}

/** P1 §4.2: not shown. It may hold the token of a call. */
const notShown = { ...open, isSecret: true };

function send<T>(
  account: VideoIdentificationAccount,
  operation: VideoOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  return call(operationOf(operation), account, request, described, (answer) =>
    refusal(operation, answer),
  );
}
