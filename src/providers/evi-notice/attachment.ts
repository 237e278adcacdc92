// An attachment as it is sent and as it is listed (P2 §2.10).
import { present, renamed } from "../evi/members.js";
import type { AttachmentAnswer, NoticeAttachmentAnswer } from "./wire.js";

export interface NoticeAttachment {
  fileName: string;
  mimeType: string;
  bytes: Buffer;
  displayName?: string | undefined;
  contentId?: string | undefined;
  contentDescription?: string | undefined;
  contentDisposition?: string | undefined;
  contentLocation?: string | undefined;
  contentEncoding?: string | undefined;
  includeOnAffidavits?: boolean | undefined;
}

/** P2 §2.10: `Filename` where it is sent, `FileName` where it is listed. */
const fields = {
  fileName: "Filename",
  mimeType: "MimeType",
  displayName: "DisplayName",
  contentId: "ContentId",
  contentDescription: "ContentDescription",
  contentDisposition: "ContentDisposition",
  contentLocation: "ContentLocation",
  contentEncoding: "ContentEncoding",
  includeOnAffidavits: "IncludeOnAffidavits",
} as const satisfies Record<Exclude<keyof NoticeAttachment, "bytes">, string>;

/** All but the content, in the provider's spelling. */
export function attachmentFields(attachment: NoticeAttachment): Record<string, unknown> {
  return renamed(fields, attachment);
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
  return attachmentOf(read) as unknown as ListedAttachment;
}

/** Of a notice, where an id is not needed and may be missing (P2 §2.7). */
export function attachmentOf(read: NoticeAttachmentAnswer): Partial<ListedAttachment> {
  return present({
    id: read.Id,
    displayName: read.DisplayName,
    fileName: read.FileName,
    mimeType: read.MimeType,
    size: read.Size,
    contentEncoding: read.ContentEncoding,
    contentId: read.ContentId,
  });
}
