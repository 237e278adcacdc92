// Batches: created, set up, started, followed (P2 §2.8, §3.3, §3.4, §4.3); their recipients, which go up as a CSV with `;` (P2 §2.9), and
// their attachments, one in each call (P2 §2.10, §8).
import { misuseError, shownUuid, noFileError } from "../http/answer.js";
import { json, open, LONG_JSON_BYTES, empty, keptFile } from "../http/described.js";
import type { Described } from "../http/described.js";
import { capitalised, flag, number, ours, text, texts } from "../evi/members.js";
import type { Ours } from "../evi/members.js";
import { z } from "zod";
import type { EviNoticeAccount } from "./account.js";
import { call, checkLimit, deletion, nothing, onBatch, page } from "./call.js";
import type { Page } from "./call.js";
import {
  BatchAnswer,
  BatchIdAnswer,
  BatchPage,
  limits,
  routes,
  RecipientAnswer,
  RecipientPage,
  attachmentFields,
  AttachmentAnswer,
  AttachmentIdAnswer,
  AttachmentList,
  Cursor,
} from "./wire.js";
import type { NoticeAttachment } from "./wire.js";
import { asking } from "./translate.js";
import type { RawBody } from "../http/call.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { fileForm } from "../http/file-form.js";

/** P2 §2.8, §3.3. `providerFields`: the settings, and the template of the notices as `EviNotice`. */
export type Batch = Ours<typeof BatchAnswer>;

/** P2 §2.8: only what is given changes. What starts a batch is `BatchStart`. The types that are not shown are assumed. */
const BatchSettings = z.object({
  issuerName: text,
  subject: text,
  description: text,
  from: text,
  disableSenderHeader: flag,
  replyTo: text,
  /** Minutes. */
  timeToLive: number,
  costCentre: text,
  certificationLevel: text,
  affidavitKinds: texts,
  language: text,
  affidavitLanguage: text,
  /** Years. */
  onlineRetentionPeriod: number,
  ltaStorage: flag,
  pushNotificationUrl: text,
  pushNotificationFilter: texts,
  pushNotificationExtraData: text,
  commitmentOptions: text,
  commitmentCommentsAllowed: flag,
  rejectReasons: texts,
  acceptReasons: texts,
  requireRejectReason: flag,
  requireAcceptReason: flag,
  deliveryAppearance: z.unknown().optional(),
  /** An alias of `pushNotificationUrl` (P2 §6.1). */
  batchPushNotificationUrl: text,
  allowRefusal: flag,
  ownerNotificationTemplate: text,
  channel: text,
});
export type BatchSettings = z.infer<typeof BatchSettings>;

/** P2 §3.4. */
const BatchStart = z.object({
  /** `Submitted` starts the batch. */
  state: text,
  /** Schedules it: an instant in UTC. */
  scheduledDate: text,
});
export type BatchStart = z.infer<typeof BatchStart>;

/**
 * P2 §4.3, §8: at most 255 characters. Without an answer `unavailable`, effect unknown: `queryBatches` tells. An id that a
 * broken answer shows is the error's `reference`.
 */
export async function createBatch(
  account: EviNoticeAccount,
  { description }: { description: string },
  signal?: AbortSignal,
): Promise<{ batchId: string }> {
  checkDescription("createBatch", description);
  const request = { ...routes.createBatch, json: { Description: description }, signal };
  const { value } = await call(
    account,
    "createBatch",
    request,
    json(BatchIdAnswer, { reference: shownUuid }),
  );
  return { batchId: value.BatchId };
}

const BatchQuery = z.object({
  states: texts,
  cursor: Cursor.optional(),
  /** 1 to 100. */
  limit: z.number(),
  sortBy: z.enum(["LastUpdated", "ScheduledFor", "StartedOn"]).optional(),
  sortOrder: z.enum(["Ascending", "Descending"]).optional(),
  direction: z.enum(["Forward", "Backward"]).optional(),
  textSearch: text,
});
export type BatchQuery = z.infer<typeof BatchQuery>;

/** P2 §4.3, by the HTTP verb QUERY. 400 (a state, order or direction that is unknown) `protocol`. */
export async function queryBatches(
  account: EviNoticeAccount,
  asked: BatchQuery,
  signal?: AbortSignal,
): Promise<Page<Batch> & { hasMoreResults: boolean }> {
  checkLimit("queryBatches", asked.limit);
  const request = { ...routes.queryBatches, json: capitalised(BatchQuery, asked), signal };
  const described = json(BatchPage, shownTo(account));
  const { value } = await call(account, "queryBatches", request, described);
  return { ...page(value, batchOf), hasMoreResults: value.HasMoreResults };
}

/** P2 §2.8, §4.3. 404 `notVisibleYet`; a 200 about another batch `protocol`. */
export const getBatch = onBatch(
  "getBatch",
  () => ({}),
  (account, { batchId }) => {
    const isIt = ({ BatchId }: BatchAnswer) => BatchId.toLowerCase() === batchId.toLowerCase();
    const other = { path: ["BatchId"], message: "is that of another batch" };
    return json(BatchAnswer.refine(isIt, other), shownTo(account));
  },
  batchOf,
);

/** P2 §2.8, §4.3: settings, as often as one likes. 400 `invalidRequest`. */
export const updateBatch = onBatch(
  "updateBatch",
  ({ settings }: { settings: BatchSettings }) => {
    if (settings.description !== undefined) checkDescription("updateBatch", settings.description);
    return { json: capitalised(BatchSettings, settings) };
  },
  () => notShown,
  nothing,
);

/** P2 §3.4, §4.3. 400 `invalidRequest`: not ready; without an answer `unavailable`, effect unknown: `getBatch` tells. */
export const startBatch = onBatch(
  "startBatch",
  (start: BatchStart) => ({ json: capitalised(BatchStart, start) }),
  () => notShown,
  nothing,
);

/** P2 §4.3. */
export const deleteBatch = deletion("deleteBatch");

/** P2 §4.3: the HTML itself, queued by a 202. 400 (no valid body) `invalidRequest`. */
export const setBatchBody = onBatch(
  "setBatchBody",
  // A header's charset is not shown: a body of other characters than ASCII says its own in its `<meta>`.
  ({ html }: { html: string }) => ({
    raw: { content: Buffer.from(html, "utf8"), mediaType: "text/html" },
  }),
  () => notShown,
  nothing,
);

/** A 2xx whose body the specification does not show; it may be the batch. */
const notShown: Described<unknown> = { ...open, maxBytes: LONG_JSON_BYTES };

/** Each batch holds its whole body. */
function shownTo({ members }: EviNoticeAccount) {
  const spelling = { members: { Results: ["Results"], BatchId: members.batchId } };
  return { spelling, maxBytes: LONG_JSON_BYTES };
}

function batchOf(read: BatchAnswer): Batch {
  return ours(BatchAnswer, read);
}

function checkDescription(operation: "createBatch" | "updateBatch", description: string): void {
  const most = limits.descriptionCharacters;
  if (description === "" || description.length > most)
    throw misuseError(asking(operation), `the description must have 1 to ${most} characters`);
}

/** P2 §2.9. `providerFields`: the other columns and `ExtraFields`, but without the answers to challenges. */
export type BatchRecipient = Ours<typeof RecipientAnswer>;

interface RecipientList {
  csv: RawBody["content"];
  bytes?: number | undefined;
  hasChallenges: boolean;
}

/**
 * P2 §2.9, §4.3: the list goes up as it is: a Buffer is sent in place, a stream is read once. 409 `invalidRequest`: the list
 * failed validation; 400 the same: nothing in it, or another content type. Without an answer `unavailable`, effect unknown:
 * `queryRecipients` tells. `hasChallenges`: the list holds answers to challenges, so an error shows nothing of the provider's words.
 */
export const addRecipients = onBatch(
  "addRecipients",
  ({ csv, bytes, hasChallenges }: RecipientList) => ({
    raw: { content: csv, mediaType: "text/csv", bytes },
    isSecret: hasChallenges,
  }),
  () => empty,
  nothing,
);

const RecipientQuery = z.object({
  cursor: Cursor.optional(),
  /** 1 to 1000. */
  limit: number,
  sortDirection: z.enum(["Ascending", "Descending"]).optional(),
});
type RecipientQuery = z.infer<typeof RecipientQuery>;

/** P2 §4.3, by the HTTP verb QUERY. 404 `notVisibleYet`; 400 `protocol`. */
export const queryRecipients = onBatch(
  "queryRecipients",
  (asked: RecipientQuery) => {
    checkLimit("queryRecipients", asked.limit);
    return { json: capitalised(RecipientQuery, asked) };
  },
  ({ members: { recipientAddress } }) =>
    json(RecipientPage, {
      spelling: { members: { Results: ["Results"], Address: recipientAddress } },
      isSecret: true,
      maxBytes: LONG_JSON_BYTES,
    }),
  // A cursor may come with the last page too: then the next one is empty.
  (value) => page(value.Results.length === 0 ? { Results: [] } : value, recipientOf),
);

/** P2 §4.3. */
export const deleteRecipients = deletion("deleteRecipients");

function recipientOf(read: RecipientAnswer): BatchRecipient {
  return ours(RecipientAnswer, read);
}

/**
 * P2 §2.10, §4.3: multipart with one file in `Content`. 400 `invalidRequest`; without an answer `unavailable`, effect unknown:
 * `listBatchAttachments` tells.
 */
export const addBatchAttachment = onBatch(
  "addBatchAttachment",
  ({ attachment }: { attachment: NoticeAttachment }) => {
    const { fileName: name, bytes, mimeType: mediaType } = attachment;
    return {
      form: fileForm("Content", [{ name, bytes, mediaType }], attachmentFields(attachment)),
    };
  },
  () => json(AttachmentIdAnswer),
  ({ AttachmentId }) => ({ attachmentId: AttachmentId }),
);

/** P2 §2.10, §4.3. 404 `notVisibleYet`. */
export const listBatchAttachments = onBatch(
  "listBatchAttachments",
  () => ({}),
  () => json(AttachmentList, { maxBytes: LONG_JSON_BYTES }),
  (value) => value.map((read) => ours(AttachmentAnswer, read)),
);

/**
 * P2 §4.3; the file goes to `keepIn`. 404, or nothing in the answer, `notVisibleYet`; what does not come as
 * `application/octet-stream` `protocol`.
 */
export async function downloadBatchAttachment(
  account: EviNoticeAccount,
  { batchId, attachmentId }: { batchId: string; attachmentId: string },
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<KeptFile> {
  const ids = { BatchId: batchId, AttachmentId: attachmentId };
  const request = { ...routes.downloadBatchAttachment, ids, keepIn, signal };
  const answer = await call(account, "downloadBatchAttachment", request, Octets);
  if (answer.value === undefined) throw noFileError(asking("downloadBatchAttachment"), answer);
  return answer.value;
}

/** P2 §4.3. */
export const deleteBatchAttachment = deletion(
  "deleteBatchAttachment",
  ({ attachmentId }: { attachmentId: string }) => ({ AttachmentId: attachmentId }),
);

/** Any file. */
const Octets = keptFile("application/octet-stream", (type) => type === "application/octet-stream", {
  mayBePage: true,
});
