// The recipients of a batch go up and are never doubled (P2 §2.9, §4.3): before an upload the batch has none, whatever an earlier
// upload without an answer has left there.
import { Readable } from "node:stream";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { AddressDigest } from "../../batch/recipients/address-digest.js";
import { listParts } from "../../batch/recipients/list-parts.js";
import type { StepCall } from "../runtime/activity.js";
import { checkDocument, ownedDocument } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import type { BatchContext, OfBatch, SentList } from "./context.js";

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
      return (await recipientsOf(context, batchId)).value === list.addressDigest ? {} : undefined;
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
export async function recipientsOf(context: BatchContext, batchId: string): Promise<AddressDigest> {
  const found = new AddressDigest();
  for await (const page of context.recipients(batchId))
    for (const { address } of page) found.add(address);
  return found;
}

async function deleteLeft(context: BatchContext, batchId: string): Promise<void> {
  if (!(await hasRecipients(context, batchId))) return;
  await context.throughCircuit("deleteRecipients", (signal) =>
    eviNotice.deleteRecipients(context.account, { batchId }, signal),
  );
  if (await hasRecipients(context, batchId))
    throw context.notShown("queryRecipients", "shows recipients that were deleted");
}

async function hasRecipients(context: BatchContext, batchId: string): Promise<boolean> {
  for await (const page of context.recipients(batchId, 1)) return page.length > 0;
  return false;
}
