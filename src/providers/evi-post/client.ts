// EviPost, certified postal communication: one function per endpoint, one HTTP call each. HTTP Basic (P2 §5).
//
// | operation               | method and path            | §                | function           | effect class |
// |-------------------------|----------------------------|------------------|--------------------|--------------|
// | submit                  | POST /v1/EviPost/Submit    | P2 §2.1–2.4, 4.1 | submit             | keyed        |
// | query                   | GET  /v1/EviPost/Query     | P2 §2.5, 4.1     | query              | read         |
// | on-demand affidavit     | POST …/AffidavitRequest    | P2 §4.1          | requestAffidavit   | once         |
// | cancel                  | POST /v1/EviPost/Cancel    | P2 §4.1          | cancel             | lookup       |
// | affidavit download, ZIP | assumed, configurable      | P2 §4.1, 6.3     | downloadAffidavits | read         |
//
// Out of scope: the routes without `/v1` ("lower-level artifacts", P2 §4.1; put another prefix into the base URL); the
// query's `OnState` and `WithOutcome` ("contact support before use").
//
// Every function throws ProviderError only: what each status means stands in translate.ts, what a failed connection means
// in ../http/exchange.ts.
import { misuseError, noFileError, mismatchError, shownUuid } from "../http/answer.js";
import { call as callHost } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import { AnswerMismatch, json, LONG_JSON_BYTES } from "../http/described.js";
import type { Described } from "../http/described.js";
import type { Keep } from "../http/exchange.js";
import { readAffidavitZip, ZipFile, unzipped } from "../evi/affidavit-zip.js";
import type { AffidavitFile } from "../evi/affidavit-zip.js";
import type { EviPostAccount } from "./account.js";
import {
  postalItem,
  QueryAnswer,
  RequestIdAnswer,
  UniqueIdAnswer,
  IDS_SEPARATOR,
  queryParameters,
  routes,
  submissionBody,
} from "./wire.js";
import type { PostalItem, PostalSubmission } from "./wire.js";
import type { PostalOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";

export type { AffidavitFile } from "../evi/affidavit-zip.js";
export type { EviPostAccount } from "./account.js";
export type { PostalItem, PostalSubmission } from "./wire.js";

export interface PostalQuery {
  uniqueIds?: readonly string[] | undefined;
  lookupKeys?: readonly string[] | undefined;
  includeDocument?: boolean | undefined;
  includeAffidavits?: boolean | undefined;
  /** Deprecated: the PDFs inside the answer; one communication per query. */
  includeBlobs?: boolean | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

/**
 * P2 §2.1–2.4, §4.1: 200, or 202 for the replay of an earlier 200. 400 `invalidRequest` with fields is the one clean
 * refusal; 401, 403 `accessDenied`; 408, 409, 5xx and no answer `unavailable` with effect `unknown`: look up first.
 * So is a 2xx without a readable `uniqueId`; an id that it shows all the same is the error's `reference`.
 */
export async function submit(
  account: EviPostAccount,
  submission: PostalSubmission,
  idempotencyToken: string,
  signal?: AbortSignal,
): Promise<{ uniqueId: string }> {
  const request = {
    ...routes.submit,
    json: submissionBody(submission),
    sent: { secrets: [submission.options?.evidenceAccessControlChallengeResponse?.reveal() ?? ""] },
    headers: { "X-Evi-IdempotencyToken": idempotencyToken },
    signal,
  };
  const described = json(UniqueIdAnswer, { reference: shownUuid });
  const { value } = await call(account, "submit", request, described);
  return { uniqueId: value.uniqueId };
}

/**
 * P2 §2.5, §4.1: `Limit` defaults to 100, with affidavits to 25; pages are taken in the order of creation. An id that
 * is not found is absent from `results`; an empty list of ids or keys asks nobody. 401, 403 `accessDenied`; 400, 404
 * and an unreadable 200 `protocol`.
 */
export async function query(
  account: EviPostAccount,
  asked: PostalQuery,
  signal?: AbortSignal,
): Promise<{ results: PostalItem[]; totalMatches: number }> {
  const { uniqueIds, lookupKeys, includeBlobs } = asked;
  for (const list of [uniqueIds, lookupKeys]) {
    if (list?.length === 0) return { results: [], totalMatches: 0 };
    if (list?.some((value) => value === "" || value.includes(",")))
      throw misuseError(
        asking("query"),
        "an empty id or lookup key, or one with a comma, cannot be asked for",
      );
  }
  const { includeAffidavits = includeBlobs, offset } = asked;
  const values = {
    ...asked,
    includeAffidavits,
    includeBlobs: includeAffidavits ? (includeBlobs ?? false) : undefined,
    orderBy: offset === undefined ? undefined : "CreationDate",
  };
  const parameters = Object.entries(queryParameters).flatMap(([key, name]): [string, string][] => {
    const value = values[key as keyof typeof values];
    return value === undefined ? [] : [[name, String(value)]];
  });
  const request = { ...routes.query, parameters, signal };
  const described = json(QueryAnswer, { maxBytes: LONG_JSON_BYTES });
  const answer = await call(account, "query", request, described);
  const { results, totalMatches } = answer.value;
  const items = results.map(postalItem);
  if (items.includes(undefined)) {
    const noPdf = new AnswerMismatch("content", "with an embedded affidavit that is no PDF");
    throw mismatchError(asking("query"), answer, noPdf);
  }
  return { results: items as PostalItem[], totalMatches };
}

/**
 * P2 §4.1, AffidavitRequest: 200, 400, 401 are shown. 400 `invalidRequest`, 401 `accessDenied`; without an answer
 * `unknownOutcome`. The affidavit arrives later by an `AffidavitPublished` callback.
 */
export async function requestAffidavit(
  account: EviPostAccount,
  asked: {
    uniqueId: string;
    includeDocument?: boolean | undefined;
    includeEvents?: boolean | undefined;
  },
  signal?: AbortSignal,
): Promise<{ requestId: string }> {
  const { uniqueId, includeDocument, includeEvents } = asked;
  const body = {
    UniqueId: uniqueId,
    IncludeDocument: includeDocument,
    IncludeEvents: includeEvents,
  };
  const request = { ...routes.requestAffidavit, json: body, signal };
  const described = json(RequestIdAnswer, { reference: (answer) => shownUuid(answer, uniqueId) });
  const { value } = await call(account, "requestAffidavit", request, described);
  return { requestId: value.requestId };
}

/**
 * P2 §4.1, Cancel. 400 `invalidRequest`; 401 `accessDenied`: wrong credentials or not the owner; 403 `accessDenied`: no
 * `CanUseCancel` or not provisioned; 404 `notVisibleYet`: no such id (yet); 408, 409, 5xx and no answer `unavailable`.
 */
export async function cancel(
  account: EviPostAccount,
  asked: { uniqueId: string },
  signal?: AbortSignal,
): Promise<{ uniqueId: string }> {
  const request = { ...routes.cancel, json: { UniqueId: asked.uniqueId }, signal };
  const { value } = await call(account, "cancel", request, json(UniqueIdAnswer));
  return { uniqueId: value.uniqueId };
}

/**
 * P2 §4.1, §6.3: the shared download of signed PDFs in a ZIP; path, method and parameters are assumed and configured. The ZIP goes to
 * `keepIn`, and the files are read from there. Without ids it makes no call. 404, or nothing in the answer, is `notVisibleYet`; what is
 * no ZIP of PDFs is `protocol`.
 */
export async function downloadAffidavits(
  account: EviPostAccount,
  ids: readonly string[],
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<AffidavitFile[]> {
  if (ids.length === 0) return [];
  if (account.affidavits.mode === "blobs")
    throw misuseError(
      asking("downloadAffidavits"),
      "this account reads affidavits from query results",
    );
  const { method, path, idsParameter } = account.affidavits;
  const parameters: [string, string][] = [[idsParameter, ids.join(IDS_SEPARATOR)]];
  const input = method === "GET" ? { parameters } : { json: { [idsParameter]: ids } };
  const request = { method, path, ...input, keepIn, signal };
  const answer = await call(account, "downloadAffidavits", request, ZipFile);
  if (answer.value === undefined) throw noFileError(asking("downloadAffidavits"), answer);
  const files = await unzipped(asking("downloadAffidavits"), answer, (zip) =>
    readAffidavitZip(zip, ids),
  );
  if (files.length > 0) return files;
  throw noFileError(asking("downloadAffidavits"), answer);
}

/** One HTTP call with the credentials of the account; throws for what is no described answer. */
async function call<T>(
  account: EviPostAccount,
  operation: PostalOperation,
  request: Request,
  described: Described<T>,
): Promise<Answered<T>> {
  const headers = { accept: "application/json, application/zip", ...request.headers };
  const asked = { ...request, headers, basic: account };
  return callHost(asking(operation), account, asked, described, (answer) =>
    refusal(operation, answer),
  );
}
