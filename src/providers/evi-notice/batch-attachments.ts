// One call uploads one file to a batch (P2 §2.10, §4.3, §8).
import { noFileError } from "../http/answer.js";
import { json, keptFile, LONG_JSON_BYTES } from "../http/described.js";
import type { Keep, KeptFile } from "../http/exchange.js";
import { fileForm } from "../http/file-form.js";
import type { EviNoticeAccount } from "./account.js";
import { attachmentFields, listedAttachment } from "./attachment.js";
import type { NoticeAttachment } from "./attachment.js";
import { call, deletion, onBatch } from "./call.js";
import { asking } from "./translate.js";
import { AttachmentIdAnswer, AttachmentList, routes } from "./wire.js";

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
  (value) => value.map(listedAttachment),
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
