// The attachments of a batch: multipart, one file a call (P2 §2.10, §4.3, §8).
import { bytesAnswer, emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { Call, Operation } from "../../exchange/operation.js";
import type { BatchContext } from "./batch-operations.js";
import type { Batch } from "./batch.js";
import { shownAttachment } from "./query.js";
import { attachmentNames } from "./submission.js";

const PATH = "/v2/EviNotice/Batches/:BatchId/Attachments";
const ONE = `${PATH}/:AttachmentId`;

export function attachmentOperations(context: BatchContext): Operation[] {
  const { parts, onBatch, onDraft, describe } = context;
  const { refuse } = context.refuser;

  function add(batch: Batch, call: Call): Answer {
    const files = (call.form ?? []).filter(({ fileName }) => fileName !== undefined);
    const [file] = files;
    if (!file || files.length > 1 || file.name !== "Content")
      return refuse(400, "OneFile", "there must be exactly one file, in Content");
    if (file.bytes.length > parts.options.maxDocumentBytes)
      return refuse(400, "AttachmentTooLarge", "the attachment is too large");
    const fields = (call.form ?? []).filter(({ fileName }) => fileName === undefined);
    for (const { name } of fields)
      if (!attachmentNames.includes(name))
        parts.ledger.violate(call, "unknownField", batch.description, name);
    const field = (name: string) =>
      fields.find((one) => one.name === name)?.bytes.toString("utf8") || undefined;
    const [displayName, contentId, contentEncoding] = [
      "DisplayName",
      "ContentId",
      "ContentEncoding",
    ].map(field);
    const fileName = field("Filename") ?? file.fileName ?? "attachment";
    const attachment = {
      id: parts.ids.uuid("evi-notice.attachment"),
      fileName,
      mimeType: field("MimeType") ?? "application/octet-stream",
      size: file.bytes.length,
      sha256: parts.documents.put(file.bytes),
      displayName,
      contentId,
      contentEncoding,
      isOnAffidavits: field("IncludeOnAffidavits")?.toLowerCase() === "true",
    };
    batch.attachments = [...batch.attachments, attachment];
    context.effect("addBatchAttachment", batch, call, `${fileName} ${attachment.sha256}`);
    return jsonAnswer(200, { AttachmentId: attachment.id });
  }

  const list = (batch: Batch) => jsonAnswer(200, batch.attachments.map(shownAttachment));

  function removeAll(batch: Batch, call: Call): Answer {
    batch.attachments = [];
    context.effect("deleteBatchAttachments", batch, call);
    return emptyAnswer(204);
  }

  function download(batch: Batch, call: Call): Answer {
    const found = batch.attachments.find(({ id }) => id === call.params["AttachmentId"]);
    if (!found) return refuse(404, "NotFound", "no attachment with that id");
    return bytesAnswer("application/octet-stream", parts.documents.get(found.sha256));
  }

  function remove(batch: Batch, call: Call): Answer {
    const rest = batch.attachments.filter(({ id }) => id !== call.params["AttachmentId"]);
    if (rest.length === batch.attachments.length)
      return refuse(404, "NotFound", "no attachment with that id");
    batch.attachments = rest;
    context.effect("deleteBatchAttachment", batch, call, call.params["AttachmentId"]);
    return emptyAnswer(204);
  }

  return [
    { name: "addBatchAttachment", route: `POST ${PATH}`, describe, perform: onDraft(add) },
    { name: "listBatchAttachments", route: `GET ${PATH}`, describe, perform: onBatch(list) },
    {
      name: "deleteBatchAttachments",
      route: `DELETE ${PATH}`,
      describe,
      perform: onDraft(removeAll),
    },
    { name: "downloadBatchAttachment", route: `GET ${ONE}`, describe, perform: onBatch(download) },
    { name: "deleteBatchAttachment", route: `DELETE ${ONE}`, describe, perform: onDraft(remove) },
  ];
}
