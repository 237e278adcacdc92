// The attachments of a batch: one file a call (P2 §2.10, §4.3, §8).
import { noFileError } from "../http/answer.js";
import { empty, json, keptFile, LONG_JSON_BYTES } from "../http/described.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { fileForm } from "../http/file-form.js";
import type { EviNoticeAccount } from "./account.js";
import { attachmentFields, listedAttachment } from "./attachment.js";
import type { ListedAttachment, NoticeAttachment } from "./attachment.js";
import { gone } from "./batches.js";
import { call } from "./call.js";
import { asking } from "./translate.js";
import { AttachmentIdAnswer, AttachmentList, routes } from "./wire.js";

/** Which attachment of which batch. */
interface OneAttachment {
  batchId: string;
  attachmentId: string;
}

/**
 * P2 §2.10, §4.3: multipart with one file in `Content`. 400 `invalidRequest`; without an answer `unavailable`, effect unknown:
 * `listBatchAttachments` tells.
 */
export async function addBatchAttachment(
  account: EviNoticeAccount,
  { batchId, attachment }: { batchId: string; attachment: NoticeAttachment },
  signal?: AbortSignal,
): Promise<{ attachmentId: string }> {
  const { fileName: name, bytes, mimeType: mediaType } = attachment;
  const fields = attachmentFields(attachment);
  const form = fileForm("Content", [{ name, bytes, mediaType }], fields);
  const request = { ...routes.addBatchAttachment, ids: { BatchId: batchId }, form, signal };
  const { value } = await call(account, "addBatchAttachment", request, json(AttachmentIdAnswer));
  return { attachmentId: value.AttachmentId };
}

/** P2 §2.10, §4.3. 404 `notVisibleYet`. */
export async function listBatchAttachments(
  account: EviNoticeAccount,
  { batchId }: { batchId: string },
  signal?: AbortSignal,
): Promise<ListedAttachment[]> {
  const request = { ...routes.listBatchAttachments, ids: { BatchId: batchId }, signal };
  const described = json(AttachmentList, { maxBytes: LONG_JSON_BYTES });
  const { value } = await call(account, "listBatchAttachments", request, described);
  return value.map(listedAttachment);
}

/**
 * P2 §4.3; the file goes to `keepIn`. 404, or nothing in the answer, `notVisibleYet`; what does not come as
 * `application/octet-stream` `protocol`.
 */
export async function downloadBatchAttachment(
  account: EviNoticeAccount,
  { batchId, attachmentId }: OneAttachment,
  keepIn: Keep,
  signal?: AbortSignal,
): Promise<KeptFile> {
  const ids = { BatchId: batchId, AttachmentId: attachmentId };
  const request = { ...routes.downloadBatchAttachment, ids, keepIn, signal };
  const answer = await call(account, "downloadBatchAttachment", request, Octets);
  if (answer.value === undefined) throw noFileError(asking("downloadBatchAttachment"), answer);
  return answer.value;
}

/** P2 §4.3. 404 is success: it is gone. */
export async function deleteBatchAttachment(
  account: EviNoticeAccount,
  { batchId, attachmentId }: OneAttachment,
  signal?: AbortSignal,
): Promise<void> {
  const ids = { BatchId: batchId, AttachmentId: attachmentId };
  const request = { ...routes.deleteBatchAttachment, ids, signal };
  await gone(call(account, "deleteBatchAttachment", request, empty));
}

/** Any file. */
const Octets = keptFile("application/octet-stream", (type) => type === "application/octet-stream", {
  mayBePage: true,
});
