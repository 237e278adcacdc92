// One notice as a get or a query shows it (P2 §2.7, §3.2): camelCase, dates in UTC, absent instead of null.
import { others, present } from "../evi/members.js";
import { utcInstant } from "../http/instant.js";
import type { Spelling } from "../http/spelling.js";
import type { EviNoticeAccount } from "./account.js";
import { attachmentOf } from "./attachment.js";
import type { ListedAttachment } from "./attachment.js";
import type { NoticeAnswer } from "./wire.js";

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

const named = new Set([
  "Id",
  "State",
  "Outcome",
  "LookupKey",
  "RefusedOn",
  "SiteName",
  "XmissionResult",
  "XmissionSummary",
  "CustomLayoutLogoUrl",
  "Affidavits",
  "Attachments",
]);

export function noticeOf(read: NoticeAnswer): Notice {
  return present({
    id: read.Id,
    state: read.State,
    outcome: read.Outcome,
    lookupKey: read.LookupKey ?? undefined,
    refusedOn: utcInstant(read["RefusedOn"]),
    siteName: read.SiteName,
    xmissionResult: read.XmissionResult,
    xmissionSummary: read.XmissionSummary,
    customLayoutLogoUrl: read.CustomLayoutLogoUrl,
    affidavits: read.Affidavits?.map(affidavitOf),
    attachments: read.Attachments?.map(attachmentOf),
    providerFields: others(read, named),
  }) as unknown as Notice;
}

function affidavitOf(read: NonNullable<NoticeAnswer["Affidavits"]>[number]): NoticeAffidavit {
  const { Id: id, Date: date, Description: description, Kind: kind } = read;
  return present({ id, date: utcInstant(date), description, kind }) as unknown as NoticeAffidavit;
}
