// The attachments as the provider has them, once the notice is closed: kept, and compared by their hash with those that were
// submitted (P2 §4.2 Downloads).
import type { ProcessDocument } from "../../contracts/shared/status.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { keepFile } from "../evi/affidavits.js";
import type { AttemptMode } from "../runtime/failure.js";
import type { EviNoticeContext } from "./context.js";
import type { SentAttachment } from "./submission.js";

export interface AttachmentsAnswer {
  documents: ProcessDocument[];
  /** The names of submitted attachments that the provider does not have with the same content. */
  missing: string[];
}

export function attachments(
  context: EviNoticeContext,
  {
    uniqueId,
    submitted,
  }: {
    account: string;
    uniqueId: string;
    submitted: SentAttachment[];
    mode: AttemptMode;
  },
): Promise<AttachmentsAnswer> {
  return context.deps.documents.withSpool(async (spool) => {
    const files = await context.throughCircuit("downloadAttachments", (signal) =>
      eviNotice.downloadAttachments(context.account, { id: uniqueId }, spool, signal),
    );
    const left = [...submitted];
    const documents: ProcessDocument[] = [];
    for (const file of files.filter(({ size }) => size > 0)) {
      const at = left.findIndex(({ document }) => document.sha256 === file.sha256);
      const [same] = at === -1 ? [] : left.splice(at, 1);
      const name = same?.fileName ?? file.fileName;
      const mediaType = same?.document.mediaType ?? "application/octet-stream";
      const own = { kind: "attachment" as const, description: name };
      documents.push(await keepFile(context, [uniqueId, "attachment", name], file, mediaType, own));
    }
    return { documents, missing: left.map(({ fileName }) => fileName) };
  });
}
