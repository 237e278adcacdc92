// What happens to notices: accepted, alone or from a batch; the rest is that of every notification service.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import { callbackBody, EviService } from "../evi/service.js";
import type { EviEvent, Origin } from "../evi/service.js";
import type { CallbackSettings } from "../evi/checks.js";
import { affidavitPdf } from "../evi/item.js";
import type { Affidavit, EviItem } from "../evi/item.js";
import { readEviMagic } from "../evi/magic.js";
import type { EviMagic } from "../evi/magic.js";
import { endings, plan, states } from "./lifecycle.js";
import type { AffidavitKind, Ending, NoticePlan, NoticeState } from "./lifecycle.js";

export type NoticeMagic = EviMagic<Ending, never>;

/** The magic words stand in RecipientDisplayName, or in the column `displayname` of a batch. */
const vocabulary = {
  provider: "evi-notice",
  operations: [
    "submit",
    "get",
    "query",
    "attachments",
    "affidavits",
    "affidavit",
    "affidavitRequest",
    "callback",
  ],
  endings,
  modifiers: [],
} as const;

export function readNoticeMagic(text: unknown): NoticeMagic | undefined {
  return readEviMagic<Ending, never>([text], vocabulary);
}

export interface NoticeAttachment {
  id: string;
  fileName: string;
  mimeType: string;
  size: number;
  sha256: string;
  displayName?: string | undefined;
  contentId?: string | undefined;
  contentEncoding?: string | undefined;
  isOnAffidavits: boolean;
}

/** What the notices of a batch have in common stands in one object for all. */
export interface NoticeItem extends EviItem<NoticeState, AffidavitKind> {
  subject: string;
  bodySha256: string;
  from: string;
  to: string;
  displayName?: string;
  affidavitKinds: readonly AffidavitKind[];
  attachments: readonly NoticeAttachment[];
  refusedAt?: number;
  onDemandRequests: number;
  /** The batch that it comes from. */
  batchId?: string;
}

const visitor = {
  IpAddress: "192.0.2.1",
  BrowserData: "Sandbox 1.0",
  UserLanguages: "es,en",
  UserIdentity: null,
  UserAgent: "Mozilla/5.0 (sandbox)",
};

const progress: Record<string, Record<string, unknown>> = {
  Sent: { XmissionDetails: "accepted by the mail server" },
  Dispatched: { Progress: 25, Description: "handed to the delivery channel" },
  Delivered: { Progress: 50, Description: "delivered to the recipient" },
  Received: { Progress: 75, Description: "the link was followed", ...visitor },
  Read: { Progress: 100, Description: "the content was opened", ...visitor },
  Failed: { Progress: 25, Description: "the delivery failed; it is tried again" },
};

function noticeCallback(item: NoticeItem, event: EviEvent, account: Account | undefined): string {
  const { kind } = event;
  return callbackBody(item, event, account, {
    EvidenceType: "eviNotice",
    parties: { From: item.from, To: item.to, Subject: item.subject },
    details: {
      ...progress[kind],
      ...(kind === "Replied" && { Kind: item.outcome, Comments: "answered in the sandbox" }),
      ...(kind === "Closed" && { OutcomeDescription: `the notice ended as ${item.outcome}` }),
    },
  });
}

export const noticePdf = (item: NoticeItem, affidavit: Affidavit): Buffer =>
  affidavitPdf(item, affidavit, [`Notice ${item.id}`, `Content SHA-256 ${item.bodySha256}`]);

export interface NewNotice extends Omit<NoticePlan, "ending" | "modifiers"> {
  subject: string;
  bodySha256: string;
  to: string;
  displayName?: string | undefined;
  lookupKeys: string[];
  /** Default: the first lookup key. */
  intent?: string | null;
  callback?: CallbackSettings | undefined;
  attachments: NoticeItem["attachments"];
  batchId?: string | undefined;
}

export class NoticeService extends EviService<NoticeItem> {
  constructor(parts: SandboxParts) {
    super(parts, {
      provider: "evi-notice",
      states,
      moments: { onDemand: "OnDemand", closing: "Closed" },
      affidavit: (kind) => ({ description: `Affidavit ${kind}`, kind }),
      callbackBody: noticeCallback,
      entered(item, at) {
        // P2 §3.4: `Refused` is an outcome, never a state.
        if (item.state === "Closed" && item.outcome === "Refused") item.refusedAt = at;
      },
    });
  }

  accept(notice: NewNotice, origin: Origin<NoticeMagic>): NoticeItem {
    const { lookupKeys, displayName, callback, batchId, subject, bodySha256, to } = notice;
    const { affidavitKinds, attachments } = notice;
    const { magic, account } = origin;
    const members = {
      intent: notice.intent ?? lookupKeys[0] ?? null,
      lookupKeys,
      subject,
      bodySha256,
      from: account.ownerEmail,
      to,
      ...(displayName !== undefined && { displayName }),
      affidavitKinds,
      attachments,
      ...(callback && { callback }),
      ...(batchId !== undefined && { batchId }),
      onDemandRequests: 0,
      plan: plan({ ...notice, ending: magic?.ending, modifiers: magic?.modifiers ?? [] }),
    };
    return this.keep(members, origin);
  }
}
