// What happens to communications: accepted and cancelled; the rest is that of every notification service.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import { callbackBody, EviService } from "../evi/service.js";
import type { EviEvent, Origin } from "../evi/service.js";
import { affidavitPdf } from "../evi/item.js";
import type { Affidavit, EviItem } from "../evi/item.js";
import type { EviMagic } from "../evi/magic.js";
import { plan, planAfterCancel, states } from "./lifecycle.js";
import type { AffidavitMoment, Ending, PostalState } from "./lifecycle.js";
import type {
  AffidavitProfile,
  CheckedSubmission,
  PostalAddress,
  ServiceType,
} from "./submission.js";

export type PostalMagic = EviMagic<Ending, "unclosed">;

export interface PostItem extends EviItem<PostalState, AffidavitMoment> {
  modifiers: PostalMagic["modifiers"];
  service: ServiceType;
  profile: AffidavitProfile;
  isOnDemandEnabled: boolean;
  documentSha256: string;
  recipientName?: string | undefined;
  recipient: string;
  sender: string;
  address: PostalAddress;
  costCentre?: string | undefined;
  processedAt?: number;
  sentAt?: number;
}

const descriptions: Record<AffidavitMoment, string> = {
  submit: "Affidavit of submission",
  close: "Affidavit of closure",
  "on-demand": "Affidavit on demand",
};

const details: Record<string, string> = {
  Dispatched: "handed to the carrier",
  Issued: "issued by the postal operator",
  Sent: "accepted by the postal operator",
};

function postalCallback(item: PostItem, event: EviEvent, account: Account | undefined): string {
  const { kind } = event;
  return callbackBody(item, event, account, {
    EvidenceType: "eviPost",
    parties: { Sender: item.sender, Recipient: item.recipient },
    details: {
      ...(details[kind] !== undefined && { TransmissionDetails: details[kind] }),
      ...(kind === "Delivered" && { Details: "delivered at the address" }),
    },
  });
}

export const postalPdf = (item: PostItem, affidavit: Affidavit): Buffer =>
  affidavitPdf(item, affidavit, [
    `Communication ${item.id}`,
    `Service ${item.service}, profile ${item.profile}`,
    `Document SHA-256 ${item.documentSha256}`,
  ]);

const cancellable: readonly PostalState[] = ["Draft", "Submitted", "Processed"];

export class PostalService extends EviService<PostItem> {
  constructor(parts: SandboxParts) {
    super(parts, {
      provider: "evi-post",
      states,
      moments: { onDemand: "on-demand", closing: "close" },
      affidavit: (moment) => ({ description: descriptions[moment] }),
      callbackBody: postalCallback,
      entered(item, at) {
        if (item.state === "Processed") item.processedAt = at;
        if (item.state === "Sent") item.sentAt = at;
      },
    });
  }

  accept(submission: CheckedSubmission, origin: Origin<PostalMagic>): PostItem {
    const { document, ...rest } = submission;
    const { magic, account, at } = origin;
    const modifiers = magic?.modifiers ?? [];
    const members = {
      ...rest,
      modifiers,
      documentSha256: this.parts.documents.put(document),
      plan: plan({ ...rest, ending: magic?.ending, modifiers }),
    };
    const item = this.keep(members, origin);
    this.effect("submit", item, account.username, at);
    return item;
  }

  isCancellable(item: PostItem): boolean {
    return cancellable.includes(item.state);
  }

  cancel(item: PostItem, account: Account, at: number): void {
    this.effect("cancel", item, account.username, at);
    this.enter(item, "Cancelled", "Cancelled", at);
    this.replan(item, planAfterCancel(item.plan, item.modifiers), at);
  }
}
