// What happens to communications: accepted and cancelled; the rest is that of every notification service.
import type { Account } from "../../engine/accounts.js";
import type { FaultRule } from "../../engine/faults.js";
import type { SandboxParts } from "../../engine/parts.js";
import { hide } from "../../engine/visibility.js";
import { EviService } from "../evi/service.js";
import { descriptions } from "./affidavit.js";
import { postalCallback } from "./callback-body.js";
import { plan, planAfterCancel, type PostalState } from "./lifecycle.js";
import type { PostalMagic } from "./magic.js";
import type { PostItem } from "./post-item.js";
import type { CheckedSubmission } from "./submission.js";

const cancellable: readonly PostalState[] = ["Draft", "Submitted", "Processed"];

export class PostalService extends EviService<PostItem> {
  constructor(parts: SandboxParts) {
    super(parts, {
      provider: "evi-post",
      moments: { onDemand: "on-demand", closing: "close" },
      affidavit: (moment) => ({ description: descriptions[moment] }),
      callbackBody: postalCallback,
      entered(item, at) {
        if (item.state === "Processed") item.processedAt = at;
        if (item.state === "Sent") item.sentAt = at;
      },
    });
  }

  accept(
    submission: CheckedSubmission,
    account: Account,
    at: number,
    extra: { magic?: PostalMagic | undefined; magicKey?: string | undefined; faults: FaultRule[] },
  ): PostItem {
    const { lookupKey, customLookupKeys, recipientName, costCentre, callback } = submission;
    const modifiers = extra.magic?.modifiers ?? [];
    const item: PostItem = {
      id: this.parts.ids.uuid("evi-post"),
      account: account.username,
      site: account.site.name,
      intent: lookupKey ?? null,
      lookupKeys: [...(lookupKey === undefined ? [] : [lookupKey]), ...customLookupKeys],
      ...(extra.magicKey !== undefined && { magicKey: extra.magicKey }),
      modifiers,
      service: submission.service,
      profile: submission.profile,
      isOnDemandEnabled: submission.isOnDemandEnabled,
      documentSha256: this.parts.documents.put(submission.document),
      ...(recipientName !== undefined && { recipientName }),
      recipient: submission.recipient,
      sender: submission.sender,
      address: submission.address,
      ...(costCentre !== undefined && { costCentre }),
      ...(callback && { callback }),
      state: "Submitted",
      stateAt: at,
      outcome: "None",
      createdAt: at,
      affidavits: [],
      plan: plan({ ...submission, ending: extra.magic?.ending, modifiers }),
      planVersion: 0,
    };
    hide(item, extra.faults);
    this.items.add(item);
    this.effect("submit", item, account.username, at);
    this.scheduleNext(item, at);
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
