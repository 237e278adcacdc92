// EviNotice, certified hosted notices: one function per endpoint, one HTTP call each. HTTP Basic (P2 §5).
//
// | operation                 | method and path                            | §                | function                | effect class |
// |---------------------------|--------------------------------------------|------------------|-------------------------|--------------|
// | submit                    | POST   /v2/EviNotice/Submit                | P2 §2.6, 4.2     | submit                  | keyed        |
// | get                       | GET    …/{Id}                              | P2 §2.7, 4.2     | get                     | read         |
// | query                     | POST   …/Query                             | P2 §2.7, 4.2, 8  | query                   | read         |
// | all attachments           | GET    …/{Id}/Attachments                  | P2 §4.2          | downloadAttachments     | read         |
// | all affidavits            | GET    …/{Id}/Affidavits                   | P2 §4.2          | downloadAffidavits      | read         |
// | one affidavit             | GET    …/Affidavits/{Id}                   | P2 §4.2          | downloadAffidavit       | read         |
// | on-demand affidavit       | POST   …/Affidavits/Request                | P2 §4.2          | requestAffidavit        | once         |
// | batch: create             | POST   …/Batches                           | P2 §4.3, 8       | createBatch             | lookup       |
// | batch: query              | QUERY  …/Batches                           | P2 §4.3, 8       | queryBatches            | read         |
// | batch: get                | GET    …/Batches/{BatchId}                 | P2 §2.8, 4.3     | getBatch                | read         |
// | batch: update             | PATCH  …/Batches/{BatchId}                 | P2 §2.8, 4.3     | updateBatch             | repeatable   |
// | batch: start              | PATCH  …/Batches/{BatchId}                 | P2 §3.4, 4.3     | startBatch              | lookup       |
// | batch: delete             | DELETE …/Batches/{BatchId}                 | P2 §4.3          | deleteBatch             | repeatable   |
// | batch: set body           | PUT    …/Batches/{BatchId}/Body            | P2 §4.3          | setBatchBody            | repeatable   |
// | batch: add recipients     | POST   …/Batches/{BatchId}/Recipients      | P2 §2.9, 4.3     | addRecipients           | lookup       |
// | batch: query recipients   | QUERY  …/Batches/{BatchId}/Recipients      | P2 §2.9, 4.3, 8  | queryRecipients         | read         |
// | batch: delete recipients  | DELETE …/Batches/{BatchId}/Recipients      | P2 §4.3          | deleteRecipients        | repeatable   |
// | batch: add attachment     | POST   …/Batches/{BatchId}/Attachments     | P2 §2.10, 4.3, 8 | addBatchAttachment      | lookup       |
// | batch: list attachments   | GET    …/Batches/{BatchId}/Attachments     | P2 §2.10, 4.3    | listBatchAttachments    | read         |
// | batch: read attachment    | GET    …/Attachments/{AttachmentId}        | P2 §4.3          | downloadBatchAttachment | read         |
// | batch: delete attachment  | DELETE …/Attachments/{AttachmentId}        | P2 §4.3          | deleteBatchAttachment   | repeatable   |
//
// Out of scope: the older routes below `/api` ("still accepted", P2 §4.2; put the prefix into the base URL); the deletion of all
// attachments of a batch (P2 §4.3): one that is not of the input is deleted by its id, and a batch that is not to go out as a whole.
//
// Every function throws ProviderError only: what each status means stands in translate.ts, what a failed connection means
// in ../http/exchange.ts.
import { z } from "zod";
import { mismatchError, noFileError, shownUuid } from "../http/answer.js";
import { AnswerMismatch, json, keptFile, LONG_JSON_BYTES, isPdf } from "../http/described.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { readAffidavitZip, ZipFile, unzipped } from "../evi/affidavit-zip.js";
import type { AffidavitFile, DownloadedFile } from "../evi/affidavit-zip.js";
import { capitalised, number, text, texts } from "../evi/members.js";
import { readZip, safeFileName } from "../evi/zip.js";
import type { EviNoticeAccount } from "./account.js";
import { call, checkLimit, page } from "./call.js";
import type { Page } from "./call.js";
import {
  Cursor,
  noticeOf,
  noticeSpelling,
  IdAnswer,
  NoticeAnswer,
  NoticePage,
  RequestIdAnswer,
  routes,
  submissionBody,
} from "./wire.js";
import type { Notice, NoticeSubmission } from "./wire.js";
import { asking } from "./translate.js";

export * from "./batches.js";
export type { BatchAssumptions, EviNoticeAccount } from "./account.js";
export type { Page } from "./call.js";
export type { Cursor, ListedAttachment, Notice, NoticeSubmission } from "./wire.js";

/**
 * P2 §2.6, §4.2: 200, or 202 for the replay of an earlier 200. 400 `invalidRequest` is the one clean refusal; 401 `accessDenied`,
 * 403 the same: no permission, or no balance; 408, 409, 5xx and no answer `unavailable` with effect `unknown`: look up first.
 * So is a 2xx without a readable `Id`; an id that it shows all the same is the error's `reference`.
 */
export async function submit(
  account: EviNoticeAccount,
  submission: NoticeSubmission,
  idempotencyToken: string,
  signal?: AbortSignal,
): Promise<{ id: string }> {
  const request = {
    ...routes.submit,
    json: submissionBody(submission, account),
    sent: { secrets: [submission.evidenceAccessControlChallengeResponse?.reveal() ?? ""] },
    headers: { "X-Evi-IdempotencyToken": idempotencyToken },
    signal,
  };
  const described = json(IdAnswer, { reference: shownUuid });
  const { value } = await call(account, "submit", request, described);
  return { id: value.Id };
}

/** P2 §2.7, §4.2. 404 `notVisibleYet`; 400, and a 200 that cannot be read or is about another notice, `protocol`. */
export async function get(
  account: EviNoticeAccount,
  asked: {
    id: string;
    includeAffidavits?: boolean | undefined;
    includeAttachments?: boolean | undefined;
  },
  signal?: AbortSignal,
): Promise<Notice> {
  const { id, includeAffidavits, includeAttachments } = asked;
  const wanted = { IncludeAffidavits: includeAffidavits, IncludeAttachments: includeAttachments };
  const parameters = Object.entries(wanted).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const request = { ...routes.get, ids: { Id: id }, parameters, signal };
  const described = json(NoticeAnswer, {
    spelling: noticeSpelling(account),
    maxBytes: LONG_JSON_BYTES,
  });
  const answer = await call(account, "get", request, described);
  const notice = noticeOf(answer.value);
  if (notice.id.toLowerCase() === id.toLowerCase()) return notice;
  const other = new AnswerMismatch("content", "with another notice");
  throw mismatchError(asking("get"), answer, other);
}

const NoticeQuery = z.object({
  /** 1 to 100; the provider's default is 100. */
  limit: number,
  /** It is an owner's e-mail address. */
  owner: text,
  lookupKeys: texts,
  linkedId: text,
  state: text,
  outcome: text,
  /** The page before has given it. */
  cursor: Cursor.optional(),
});
export type NoticeQuery = z.infer<typeof NoticeQuery>;

/** P2 §4.2, §8. With an empty list of keys nothing is sent. 401, 403 `accessDenied`; 400, 404 and an unreadable 200 `protocol`. */
export async function query(
  account: EviNoticeAccount,
  asked: NoticeQuery,
  signal?: AbortSignal,
): Promise<Page<Notice>> {
  checkLimit("query", asked.limit);
  if (asked.lookupKeys?.length === 0) return { results: [] };
  const request = { ...routes.query, json: capitalised(NoticeQuery, asked), signal };
  const described = json(NoticePage, {
    spelling: noticeSpelling(account),
    maxBytes: LONG_JSON_BYTES,
  });
  const { value } = await call(account, "query", request, described);
  return page(value, noticeOf);
}

/**
 * P2 §4.2: 204 says that the notice has none, for good. The ZIP goes to `keepIn`, and the files are read from there. 404
 * `notVisibleYet`; what is no ZIP `protocol`.
 */
export async function downloadAttachments(
  account: EviNoticeAccount,
  { id }: { id: string },
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<DownloadedFile[]> {
  const request = { ...routes.downloadAttachments, ids: { Id: id }, keepIn, signal };
  const answer = await call(account, "downloadAttachments", request, ZipFile);
  if (answer.status === 204) return [];
  return unzipped(asking("downloadAttachments"), answer, async (zip) =>
    (await readZip(zip)).map((file) => ({
      fileName: safeFileName(file.name, "attachment"),
      size: file.size,
      sha256: file.sha256,
      pieces: () => file.pieces(),
    })),
  );
}

/**
 * P2 §4.2: 204 says that there are none yet. `affidavitIds` are those that a get has shown: a file belongs to the one that
 * its name contains. The ZIP goes to `keepIn`, and the files are read from there. 404 `notVisibleYet`; what is no ZIP of PDFs
 * `protocol`.
 */
export async function downloadAffidavits(
  account: EviNoticeAccount,
  { id, affidavitIds = [] }: { id: string; affidavitIds?: readonly string[] | undefined },
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<AffidavitFile[]> {
  const request = { ...routes.downloadAffidavits, ids: { Id: id }, keepIn, signal };
  const answer = await call(account, "downloadAffidavits", request, ZipFile);
  if (answer.status === 204) return [];
  return unzipped(asking("downloadAffidavits"), answer, (zip) =>
    readAffidavitZip(zip, affidavitIds),
  );
}

const Pdf = keptFile("a PDF", (type) => type === "application/pdf");

/** P2 §4.2; the PDF goes to `keepIn`. 404, or nothing in the answer, `notVisibleYet`; what is no PDF `protocol`. */
export async function downloadAffidavit(
  account: EviNoticeAccount,
  { affidavitId }: { affidavitId: string },
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<KeptFile> {
  const request = { ...routes.downloadAffidavit, ids: { Id: affidavitId }, keepIn, signal };
  const answer = await call(account, "downloadAffidavit", request, Pdf);
  if (answer.value === undefined) throw noFileError(asking("downloadAffidavit"), answer);
  if (isPdf(answer.body)) return answer.value;
  const noPdf = new AnswerMismatch("content", "with a file that is no PDF");
  throw mismatchError(asking("downloadAffidavit"), answer, noPdf);
}

/**
 * P2 §4.2. 403 `accessDenied`: the limit of the notice is reached; 405 `protocol`: `OnDemand` was not requested, or the notice is
 * `Draft` or `Closed`; `status` tells them. Without an answer `unknownOutcome`. The affidavit arrives later by an
 * `AffidavitPublished` callback.
 */
export async function requestAffidavit(
  account: EviNoticeAccount,
  asked: {
    id: string;
    includeBody?: boolean | undefined;
    includeAttachments?: boolean | undefined;
    includeEvents?: boolean | undefined;
  },
  signal?: AbortSignal,
): Promise<{ requestId: string }> {
  const { id, includeBody, includeAttachments, includeEvents } = asked;
  const body = {
    Id: id,
    IncludeBody: includeBody,
    IncludeAttachments: includeAttachments,
    IncludeEvents: includeEvents,
  };
  const request = { ...routes.requestAffidavit, json: body, signal };
  const described = json(RequestIdAnswer, { reference: (answer) => shownUuid(answer, id) });
  const { value } = await call(account, "requestAffidavit", request, described);
  return { requestId: value.RequestId };
}
