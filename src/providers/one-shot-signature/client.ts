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
// | webhook                    | comes to us: callback.ts     | parseCallback   | –            |
//
// Documents are in documents.ts, the identity video in identity-video.ts. Out of scope: how the webhook is configured at the
// provider (P1 §6.2: not shown).
//
// Request and response shapes are not shown (P1 §4.4): wire.ts has what is assumed. Every function throws ProviderError only:
// what each status means stands in translate.ts, what a failed connection means in ../http.ts.
import { nothingYet, read, readSecret, shownValue, unreadable } from "../answer.js";
import type { Received } from "../redaction.js";
import { isPdf } from "../pdf.js";
import { call, routeOf } from "./call.js";
import type { OneShotSignatureAccount } from "./call.js";
import { asking, showsError } from "./translate.js";
import { CreateAnswer, SignAnswer, TokenAnswer, TokensAnswer, routes } from "./wire.js";

export type { OneShotSignatureAccount } from "./call.js";
export * from "./documents.js";
export * from "./identity-video.js";

const PDF = "application/pdf";
const UNTYPED = "application/octet-stream";

/** P1 §4.4. The tokens are secrets. 401, 403 `accessDenied`; anything but a list of tokens `protocol`. */
export async function listTokens(
  account: OneShotSignatureAccount,
  signal?: AbortSignal,
): Promise<{ token: string }[]> {
  const answer = await call(account, "listTokens", { ...routes.listTokens, signal });
  const tokens = readSecret(asking("listTokens"), answer, TokensAnswer);
  return tokens.map(({ token }) => ({ token }));
}

/** P1 §4.4, assumed. The token is a secret. A 2xx without one, and no answer, `unknownOutcome`. */
export async function createToken(
  account: OneShotSignatureAccount,
  signal?: AbortSignal,
): Promise<{ token: string }> {
  const route = routeOf(account, "createToken");
  const answer = await call(account, "createToken", { ...route, signal });
  const { token } = readSecret(asking("createToken"), answer, TokenAnswer);
  return { token };
}

/**
 * P1 §1.4, §4.4; the payload is sent as it is. 400 `invalidRequest`; 408, 409, 5xx, no answer and a 2xx without `request_pk`
 * `unknownOutcome`; a broken 2xx that shows one all the same `protocol`, with it as `reference`.
 */
export async function create(
  account: OneShotSignatureAccount,
  payload: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<{ requestPk: string }> {
  const answer = await call(account, "create", { ...routes.create, json: payload, signal });
  const shown = shownValue(answer, "request_pk");
  return { requestPk: read(asking("create"), answer, CreateAnswer, shown).request_pk };
}

/** P1 §4.4. 404 and an empty answer `notVisibleYet`; a web page, an error and what says that it is a PDF and is none `protocol`. */
export async function contract(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<{ bytes: Buffer; mediaType: string }> {
  const headers = { accept: "application/pdf, */*" };
  const answer = await call(account, "contract", {
    ...routes.contract,
    requestPk,
    headers,
    signal,
  });
  const { body: bytes, headers: received } = answer;
  if (bytes.length === 0) throw nothingYet(asking("contract"), answer);
  const [type = ""] = (received["content-type"] ?? "").toLowerCase().split(";");
  const mediaType = type.trim() || (isPdf(bytes) ? PDF : UNTYPED);
  const problem = noContract(mediaType, answer);
  if (problem !== undefined) throw unreadable(asking("contract"), answer, { problem });
  return { bytes, mediaType };
}

/** A page to log in at, or an error, may come with a 200 too. */
function noContract(mediaType: string, { body }: Received): string | undefined {
  if (mediaType === PDF) return isPdf(body) ? undefined : "the contract is no PDF";
  const isPage =
    mediaType === UNTYPED && /^\s*<(!doctype\s+)?html\b/i.test(body.toString("utf8", 0, 500));
  if (mediaType === "text/html" || isPage) return "a web page came for the contract";
  const isJson = /^(application|text)\/([\w.-]+\+)?json$/.test(mediaType);
  if (isJson && showsError(body)) return "an error came for the contract";
  return undefined;
}

/** P1 §4.4: the provider sends the OTP to the signer. 400 `invalidRequest`; 408, 409, 5xx and no answer `unknownOutcome`. */
export async function otp(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<void> {
  await call(account, "otp", { ...routes.otp, requestPk, json: {}, signal });
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
  const request = { ...routes.sign, requestPk, json: { otp: password }, secrets: [password] };
  const answer = await call(account, "sign", { ...request, signal });
  const { state } = readSecret(asking("sign"), answer, SignAnswer);
  return { state };
}
