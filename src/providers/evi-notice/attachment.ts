// An attachment as it is sent and as it is listed (P2 §2.10).
import { z } from "zod";
import { capitalised, flag, ours, text } from "../evi/members.js";
import { AttachmentAnswer } from "./wire.js";

export const NoticeAttachment = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  bytes: z.instanceof(Buffer),
  displayName: text,
  contentId: text,
  contentDescription: text,
  contentDisposition: text,
  contentLocation: text,
  contentEncoding: text,
  includeOnAffidavits: flag,
});
export type NoticeAttachment = z.infer<typeof NoticeAttachment>;

/** All but the content, in the provider's spelling: `Filename` where it is sent, `FileName` where it is listed (P2 §2.10). */
export function attachmentFields(attachment: NoticeAttachment): Record<string, unknown> {
  const { bytes: _, ...fields } = attachment;
  return capitalised(NoticeAttachment, fields, { fileName: "Filename" });
}

export interface ListedAttachment {
  id: string;
  displayName?: string;
  fileName?: string;
  mimeType?: string;
  size?: number;
  contentEncoding?: string;
  contentId?: string;
}

export function listedAttachment(read: AttachmentAnswer): ListedAttachment {
  return ours(AttachmentAnswer, read) as unknown as ListedAttachment;
}
