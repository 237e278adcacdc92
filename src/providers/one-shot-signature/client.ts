// The one-shot signature service (P1 §1.4, §4.4): one function per endpoint, one HTTP call each, with a token of the
// registration-authority operator (P1 §5.4). "…" is {oneshot_base_url}/oneshot/api/v1; an assumed path is configurable.
//
// | operation                  | method and path              | function        | effect class |
// |----------------------------|------------------------------|-----------------|--------------|
// | list tokens                | GET  …/tokens                | listTokens      | read         |
// | token creation             | POST, assumed                | createToken     | once         |
// | create signature request   | POST …/create                | create          | once         |
// | upload document            | POST, assumed                | uploadDocument  | lookup       |
// | upload hash file           | POST, assumed                | uploadHash      | lookup       |
// | retrieve service contract  | GET  …/contract/{request_pk} | contract        | read         |
// | generate OTP               | POST …/otp/{request_pk}      | otp             | once         |
// | issue certificate and sign | POST …/sign/{request_pk}     | sign            | once         |
// | retrieve                   | GET, assumed; may be missing | retrieve        | read         |
// | delete                     | DELETE, assumed              | deleteDocuments | repeatable   |
// | video: create request      | POST, assumed                | createVideo     | once         |
// | video: upload evidences    | POST, assumed                | uploadEvidences | once         |
// | video: upload video        | POST, assumed                | uploadVideo     | once         |
// | video: approve             | POST, assumed                | approveVideo    | once         |
// | video: cancel              | POST, assumed                | cancelVideo     | once         |
// | video: get                 | GET, assumed                 | getVideo        | read         |
// | video: update the request  | PATCH, assumed               | updateVideo     | once         |
// | webhook                    | comes to us: callback.ts     | –               | –            |
//
// Documents and identity video are in documents.ts. Out of scope: how the webhook is configured at the
// provider (P1 §6.2: not shown).
//
// Request and response shapes are not shown (P1 §4.4): wire.ts has what is assumed. Every function throws ProviderError only:
// what each status means stands in translate.ts, what a failed connection means in ../http/exchange.ts.
import { noFileError, shownValue } from "../http/answer.js";
import {
  AnswerMismatch,
  isJsonType,
  json,
  keptFile,
  LONG_JSON_BYTES,
  mediaTypeOf,
  isPdf,
  open,
} from "../http/described.js";
import type { Described } from "../http/described.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { call, routeOf } from "./call.js";
import type { OneShotSignatureAccount } from "./account.js";
import { asking, showsError } from "./translate.js";
import { CreateAnswer, SignAnswer, TokenAnswer, routes } from "./wire.js";

export type { OneShotSignatureAccount } from "./account.js";
export * from "./documents.js";

const PDF = "application/pdf";
const UNTYPED = "application/octet-stream";

/** P1 §4.4. The tokens are secrets, and how the list shows them is not shown: nothing of it is read. 401, 403 `accessDenied`. */
export async function listTokens(
  account: OneShotSignatureAccount,
  signal?: AbortSignal,
): Promise<void> {
  const described = { ...open, isSecret: true, maxBytes: LONG_JSON_BYTES };
  await call(account, "listTokens", { ...routes.listTokens, signal }, described);
}

/** P1 §4.4, assumed. The token is a secret. A 2xx without one, and no answer, `unknownOutcome`. */
export async function createToken(
  account: OneShotSignatureAccount,
  signal?: AbortSignal,
): Promise<{ token: string }> {
  const route = routeOf(account, "createToken");
  const described = json(TokenAnswer, { isSecret: true, spelling: account });
  const { value } = await call(account, "createToken", { ...route, signal }, described);
  return { token: value.token };
}

/**
 * P1 §1.4, §4.4; the payload is sent as it is. 400 `invalidRequest`; 408, 409, 5xx, no answer and a 2xx without the request's id
 * `unknownOutcome`; one that it shows all the same is the error's `reference`.
 */
export async function create(
  account: OneShotSignatureAccount,
  payload: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<{ requestPk: string }> {
  const described = json(CreateAnswer, {
    spelling: account,
    reference: (answer) => shownValue(answer, ...account.members.requestPk),
  });
  const request = { ...routes.create, json: payload, signal };
  const { value } = await call(account, "create", request, described);
  return { requestPk: value.requestPk };
}

/**
 * P1 §4.4; the contract goes to `keepIn`. 404 and an empty answer `notVisibleYet`; a web page, an error and what says that it is a
 * PDF and is none `protocol`.
 */
export async function contract(
  account: OneShotSignatureAccount,
  requestPk: string,
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<{ file: KeptFile; mediaType: string }> {
  const headers = { accept: "application/pdf, */*" };
  const request = { ...routes.contract, requestPk, headers, keepIn, signal };
  const answer = await call(account, "contract", request, Contract);
  const { value: kept, body } = answer;
  if (kept === undefined) throw noFileError(asking("contract"), answer);
  return { file: kept, mediaType: mediaTypeOf(answer) ?? (isPdf(body) ? PDF : UNTYPED) };
}

/** Any media type but a web page's; a page to log in at, or an error, may come with a 200 too. */
const Contract: Described<KeptFile | undefined> = {
  read(answer) {
    const kept = keptFile("the contract", (type) => type !== "text/html").read(answer);
    if (kept instanceof AnswerMismatch || kept === undefined) return kept;
    const type = mediaTypeOf(answer) ?? UNTYPED;
    if (type === PDF && !isPdf(answer.body))
      return new AnswerMismatch("content", "with a contract that is no PDF");
    if (isJsonType(type) && showsError(answer.body))
      return new AnswerMismatch("error", "with an error instead of the contract");
    return kept;
  },
};

/**
 * P1 §4.4: the provider sends the OTP to the signer. 400 `protocol`; 408, 409, 5xx, a 2xx with something else
 * than JSON and no answer `unknownOutcome`.
 */
export async function otp(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<void> {
  await call(account, "otp", { ...routes.otp, requestPk, json: {}, signal }, open);
}

/**
 * P1 §4.4; `signing`: it goes on, a webhook or `retrieve` tells the end. `invalidRequest` for a 400 and for the account's
 * codes of a wrong or expired OTP (`otpVerdict`); 408, 409, 5xx, no answer and another 2xx `unknownOutcome`.
 */
export async function sign(
  account: OneShotSignatureAccount,
  { requestPk, otp: password }: { requestPk: string; otp: string },
  signal?: AbortSignal,
): Promise<{ state: "signed" | "signing" }> {
  const body = { [account.sent.otp]: password };
  const request = { ...routes.sign, requestPk, json: body, secrets: [password] };
  const described = json(SignAnswer, { isSecret: true, spelling: account });
  const { value } = await call(account, "sign", { ...request, signal }, described);
  return { state: value.state };
}
