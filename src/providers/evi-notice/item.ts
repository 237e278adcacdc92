// One notice as a get or a query shows it (P2 §2.7, §3.2): camelCase, dates in UTC, absent instead of null.
import { ours } from "../evi/members.js";
import type { Spelling } from "../http/spelling.js";
import type { EviNoticeAccount } from "./account.js";
import type { ListedAttachment } from "./attachment.js";
import { Affidavit, AttachmentAnswer, NoticeAnswer } from "./wire.js";

export interface NoticeAffidavit {
  id: string;
  date?: string;
  description?: string;
  kind?: string;
}

export interface Notice {
  id: string;
  /** P2 §3.2; one that the specification does not name passes through. */
  state: string;
  outcome?: string;
  lookupKey?: string;
  /** Set where the recipient refused the notice without opening it (P2 §3.4). */
  refusedOn?: string;
  siteName?: string;
  xmissionResult?: string;
  xmissionSummary?: string;
  customLayoutLogoUrl?: string;
  /** Present when asked for, perhaps empty. */
  affidavits?: NoticeAffidavit[];
  attachments?: Partial<ListedAttachment>[];
  /** Members of the answer that P2 §2.7 does not name, untouched. */
  providerFields?: Record<string, unknown>;
}

/** How the members may be called whose names are not shown. */
export function noticeSpelling({ members }: EviNoticeAccount): Spelling {
  const lists = { Results: ["Results"], Affidavits: ["Affidavits"], Attachments: ["Attachments"] };
  return { members: { ...lists, Id: members.id } };
}

export function noticeOf({ Affidavits, Attachments, ...read }: NoticeAnswer): Notice {
  return {
    ...ours(NoticeAnswer, read),
    ...(Affidavits && { affidavits: Affidavits.map((one) => ours(Affidavit, one)) }),
    ...(Attachments && {
      attachments: Attachments.map((one) => ours(AttachmentAnswer, one)),
    }),
  } as unknown as Notice;
}
