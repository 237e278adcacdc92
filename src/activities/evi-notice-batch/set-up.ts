// Creates a batch and gives it its body, recipients, attachments and settings (P2 §2.8-2.10, §4.3). Each call is made once, found again
// after a lost answer, or repeated where that doubles nothing.
import { plainText } from "../../contracts/shared/text.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { BatchSettings as BatchFields, Cursor } from "../../providers/evi-notice/client.js";
import { provider } from "../evi-notice/context.js";
import type { StepCall } from "../runtime/activity.js";
import { ownedDocument, readDocument, checkDocument } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import type { BatchContext, OfBatch, BatchAttachment, SentList } from "./context.js";
import { Readable } from "node:stream";
import { AddressDigest } from "../../batch/recipients/preflight.js";
import { listParts } from "../../batch/recipients/pieces.js";

/** So much of the 255 characters of a description is left beside our own token, by which the batch is found again (P2 §8). */
const MAX_OWN_WORDS = 255 - " [00000000-0000-0000-0000-000000000000]".length;
/** Whether it leaves no room for the token: then it replaces the words that the batch is created with. */
export const hasLongDescription = (description = "") =>
  plainText(description).length > MAX_OWN_WORDS;
/** Nine kinds of callbacks, each doubled, and a reserve. */
const CALLBACKS_A_RECIPIENT = 40;
/** A search by a unique token finds one batch. */
const MAX_PAGES = 20;

export function createBatch(
  context: BatchContext,
  { effect, description }: StepCall & { account: string; description?: string },
): Promise<{ batchId: string }> {
  const describe = (token: string) =>
    plainText(
      [
        plainText(description ?? "")
          .trim()
          .slice(0, MAX_OWN_WORDS),
        `[${token}]`,
      ]
        .filter(Boolean)
        .join(" "),
    );
  const find = (token: string) => findDescribed(context, token, (said) => said === describe(token));
  return runEffect<typeof provider, { batchId: string }, undefined, string>(context, effect, {
    operation: "createBatch",
    input: { description: description ?? null },
    send: ({ token, signal }) =>
      eviNotice.createBatch(context.account, { description: describe(token) }, signal),
    async findShown(batchId, token) {
      const batch = await context.findBatch(batchId);
      return batch?.description?.trim() === describe(token) ? { batchId } : undefined;
    },
    lookUp: find,
    assumed: {
      form: "description",
      // The settings replace it by the caller's words alone.
      isNoSample: hasLongDescription(description),
      isByToken: true,
      sampleOf: (token) => token,
      // A sample may be another process's batch, with other words.
      find: async (token) =>
        (await findDescribed(context, token, (said) => said.endsWith(`[${token}]`))) &&
        "description",
    },
  });
}

/** P2 §4.3: a search finds any batch with this text in it, so the description is compared. */
async function findDescribed(
  context: BatchContext,
  token: string,
  isOurs: (description: string) => boolean,
): Promise<{ batchId: string } | undefined> {
  const found: string[] = [];
  let cursor: Cursor | undefined;
  let hasMore = true;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const asked = { textSearch: token, limit: 100, cursor };
    const page = await context.ask("queryBatches", eviNotice.queryBatches, asked);
    for (const batch of page.results)
      if (isOurs(batch.description?.trim() ?? "")) found.push(batch.batchId);
    ({ cursor } = page);
    hasMore = page.hasMoreResults;
    if (!hasMore || cursor === undefined) break;
  }
  const [batchId] = found;
  // Where the list was not read to its end, nothing is absent.
  if (found.length > 1 || (hasMore && batchId === undefined))
    throw context.problem("queryBatches", "a search by our own token finds several batches");
  return batchId === undefined ? undefined : { batchId };
}

export async function setBatchBody(
  context: BatchContext,
  { effect, batchId, body }: StepCall & OfBatch & { body: DocumentReference },
): Promise<void> {
  await runEffect(context, effect, {
    operation: "setBatchBody",
    input: { batchId, body: body.sha256 },
    documents: [ownedDocument(body, "submitted")],
    areChecked: true,
    async prepare() {
      const bytes = await readDocument(context.deps.documents, body, "body");
      return bytes.toString("utf8");
    },
    send: ({ prepared: html, signal }) =>
      eviNotice.setBatchBody(context.account, { batchId, html }, signal),
  });
}

/** A row of the journal for each. */
export async function addBatchAttachments(
  context: BatchContext,
  { effect, batchId, attachments }: StepCall & OfBatch & { attachments: BatchAttachment[] },
): Promise<void> {
  const kept: string[] = [];
  for (const [index, attachment] of attachments.entries()) {
    const { document, ...fields } = attachment;
    const { attachmentId } = await runEffect(
      context,
      { ...effect, step: `attachment-${index + 1}` },
      {
        operation: "addBatchAttachment",
        input: { batchId, ...fields, document: document.sha256 },
        documents: [ownedDocument(document, "submitted")],
        areChecked: true,
        longestMs: context.uploadMs(document.size),
        prepare: () =>
          readDocument(context.deps.documents, document, `attachments.${index}.document`),
        send: ({ prepared: bytes, signal }) =>
          eviNotice.addBatchAttachment(
            context.uploadAccount(document.size),
            { batchId, attachment: { ...fields, mimeType: document.mediaType, bytes } },
            signal,
          ),
        async lookUp() {
          const found = await context.attachments(batchId);
          const same = found.find(({ fileName }) => fileName === fields.fileName);
          return same && { attachmentId: same.id };
        },
      },
    );
    kept.push(attachmentId);
  }
  await deleteOthers(context, batchId, kept);
}

/**
 * An upload without an answer may have come after it was looked for, and made again. Where the list does not show each of ours, its ids
 * say nothing: nothing is deleted, and a person decides before the start.
 */
async function deleteOthers(context: BatchContext, batchId: string, ours: string[]): Promise<void> {
  const listed = await context.attachments(batchId);
  // A UUID, which the provider may write in another case each time.
  const kept = ours.map((id) => id.toLowerCase());
  const others = listed.filter(({ id }) => !kept.includes(id.toLowerCase()));
  if (listed.length - others.length < kept.length) return;
  for (const { id: attachmentId } of others) {
    const given = { batchId, attachmentId };
    await context.ask("deleteBatchAttachment", eviNotice.deleteBatchAttachment, given);
  }
}

export async function configureBatch(
  context: BatchContext,
  {
    effect,
    batchId,
    fields,
    recipients,
  }: StepCall & OfBatch & { fields: BatchFields; recipients: number },
): Promise<void> {
  const { account, deps, process: processKey } = context;
  const rows = CALLBACKS_A_RECIPIENT * recipients;
  const callback = deps.callback({ provider, ...processKey, rows });
  const settings = {
    ...withAffidavits(fields),
    pushNotificationUrl: callback.url,
    pushNotificationExtraData: callback.correlation,
  };
  await runEffect(context, effect, {
    operation: "updateBatch",
    input: { batchId, fields, recipients },
    // Before the first callback can come.
    prepare: () => deps.items.open(processKey, recipients),
    send: ({ signal }) => eviNotice.updateBatch(account, { batchId, settings }, signal),
  });
}

/** An affidavit on demand is called back too. */
function withAffidavits(fields: BatchFields): BatchFields {
  const { affidavitKinds, pushNotificationFilter = [] } = fields;
  if (!affidavitKinds?.includes("OnDemand")) return fields;
  const filter = new Set([...pushNotificationFilter, "AffidavitPublished"]);
  return { ...fields, pushNotificationFilter: [...filter] };
}

/** They are never doubled: before an upload the batch has none, whatever an earlier upload without an answer has left there. */
export async function addRecipients(
  context: BatchContext,
  { effect, batchId, list }: Pick<StepCall, "effect"> & OfBatch & { list: SentList },
): Promise<void> {
  const { document, recipients, hasChallenges } = list;
  const { batch } = context.account;
  const partRows = batch.listPartRows === 0 ? recipients : batch.listPartRows;
  await runEffect(context, effect, {
    operation: "addRecipients",
    input: { batchId, list: document.sha256 },
    documents: [ownedDocument(document, "submitted")],
    areChecked: true,
    longestMs: Math.ceil(recipients / partRows) * context.uploadMs(document.size),
    async prepare() {
      await checkDocument(context.deps.documents, document, "recipients");
      await deleteLeft(context, batchId);
    },
    async send({ signal }) {
      for await (const part of uploadsOf(context, list, partRows))
        await eviNotice.addRecipients(
          context.uploadAccount(part.bytes),
          { batchId, ...part, hasChallenges },
          signal,
        );
    },
    // Without all of them nothing happened: those that came are deleted before the next upload.
    async lookUp() {
      return (await recipientsOf(context, batchId, list)).value === list.addressDigest
        ? {}
        : undefined;
    },
  });
}

/** The list as it is, or in parts with a header each. */
async function* uploadsOf(
  { deps }: BatchContext,
  { document, recipients }: SentList,
  partRows: number,
): AsyncGenerator<{ csv: Buffer | Readable; bytes: number }> {
  const pieces = deps.documents.openRead(document);
  if (partRows >= recipients) yield { csv: Readable.from(pieces), bytes: document.size };
  else for await (const csv of listParts(pieces, partRows)) yield { csv, bytes: csv.length };
}

/** Tells how many recipients the provider has, and which they are. */
export async function recipientsOf(
  context: BatchContext,
  batchId: string,
  { recipients }: SentList,
): Promise<AddressDigest> {
  const found = new AddressDigest();
  for await (const page of context.recipients(batchId, recipients))
    for (const { address } of page) found.add(address);
  return found;
}

async function deleteLeft(context: BatchContext, batchId: string): Promise<void> {
  if (!(await hasRecipients(context, batchId))) return;
  await context.ask("deleteRecipients", eviNotice.deleteRecipients, { batchId });
  if (await hasRecipients(context, batchId))
    throw context.notShown("queryRecipients", "shows recipients that were deleted");
}

async function hasRecipients(context: BatchContext, batchId: string): Promise<boolean> {
  for await (const page of context.recipients(batchId, Infinity, 1)) return page.length > 0;
  return false;
}
