// What happens to notices: accepted, alone or from a batch; the rest is that of every notification service.
import type { Account } from "../../engine/accounts.js";
import type { FaultRule } from "../../engine/faults.js";
import type { SandboxParts } from "../../engine/parts.js";
import { hide } from "../../engine/visibility.js";
import { EviService } from "../evi/service.js";
import type { CallbackSettings } from "../evi/callback-check.js";
import { noticeCallback } from "./callback-body.js";
import { plan, type NoticePlan } from "./lifecycle.js";
import type { NoticeMagic } from "./magic.js";
import type { NoticeItem } from "./notice-item.js";

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
      moments: { onDemand: "OnDemand", closing: "Closed" },
      affidavit: (kind) => ({ description: `Affidavit ${kind}`, kind }),
      callbackBody: noticeCallback,
      entered(item, at) {
        // P2 §3.4: `Refused` is an outcome, never a state.
        if (item.state === "Closed" && item.outcome === "Refused") item.refusedAt = at;
      },
    });
  }

  accept(
    notice: NewNotice,
    account: Account,
    at: number,
    extra: {
      magic?: NoticeMagic | undefined;
      magicKey?: string | undefined;
      faults: FaultRule[];
    },
  ): NoticeItem {
    const { lookupKeys, displayName, callback, batchId, subject, bodySha256, to } = notice;
    const { affidavitKinds, attachments } = notice;
    const modifiers = extra.magic?.modifiers ?? [];
    const item: NoticeItem = {
      id: this.parts.ids.uuid("evi-notice"),
      account: account.username,
      site: account.site.name,
      intent: notice.intent ?? lookupKeys[0] ?? null,
      lookupKeys,
      ...(extra.magicKey !== undefined && { magicKey: extra.magicKey }),
      subject,
      bodySha256,
      from: account.ownerEmail,
      to,
      ...(displayName !== undefined && { displayName }),
      affidavitKinds,
      attachments,
      ...(callback && { callback }),
      ...(batchId !== undefined && { batchId }),
      state: "Submitted",
      stateAt: at,
      outcome: "None",
      createdAt: at,
      affidavits: [],
      onDemandRequests: 0,
      plan: plan({ ...notice, ending: extra.magic?.ending, modifiers }),
      planVersion: 0,
    };
    hide(item, extra.faults);
    this.items.add(item);
    this.scheduleNext(item, at);
    return item;
  }
}
