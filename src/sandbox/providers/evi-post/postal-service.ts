// What happens to communications: accepted, moved on by the clock, cancelled, given affidavits; each change may call back.
import type { Account } from "../../engine/accounts.js";
import type { FaultRule } from "../../engine/faults.js";
import type { SandboxParts } from "../../engine/parts.js";
import { hide } from "../../engine/visibility.js";
import { descriptions, type AffidavitMoment } from "./affidavit.js";
import { callbackBody, type PostEvent } from "./callback-body.js";
import { plan, planAfterCancel, type PostalState, type Step } from "./lifecycle.js";
import type { PostalMagic } from "./magic.js";
import { PostItems, type PostAffidavit, type PostItem } from "./post-item.js";
import type { CheckedSubmission } from "./submission.js";

const ON_DEMAND_DELAY_MS = 5 * 60_000;

const cancellable: readonly PostalState[] = ["Draft", "Submitted", "Processed"];

export class PostalService {
  readonly items: PostItems;
  readonly #parts: SandboxParts;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    this.items = new PostItems(parts.options.lookupKeyMatching);
    parts.clock.on("evi-post.step", (data: { id: string; version: number }, at) =>
      this.#step(data, at),
    );
    parts.clock.on("evi-post.on-demand", (data: { id: string; requestId: string }, at) => {
      const item = this.items.get(data.id);
      if (item) this.publish(item, "on-demand", at, { requestId: data.requestId });
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
      id: this.#parts.ids.uuid("evi-post"),
      account: account.username,
      site: account.site.name,
      intent: lookupKey ?? null,
      lookupKeys: [...(lookupKey === undefined ? [] : [lookupKey]), ...customLookupKeys],
      ...(extra.magicKey !== undefined && { magicKey: extra.magicKey }),
      modifiers,
      service: submission.service,
      profile: submission.profile,
      isOnDemandEnabled: submission.isOnDemandEnabled,
      documentSha256: this.#parts.documents.put(submission.document),
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
    this.#scheduleNext(item, at);
    return item;
  }

  isCancellable(item: PostItem): boolean {
    return cancellable.includes(item.state);
  }

  cancel(item: PostItem, account: Account, at: number): void {
    this.effect("cancel", item, account.username, at);
    this.enter(item, "Cancelled", "Cancelled", at);
    this.#replan(item, planAfterCancel(item.plan, item.modifiers), at);
  }

  requestAffidavit(item: PostItem, account: Account, at: number): string {
    const requestId = this.#parts.ids.uuid("evi-post.request");
    this.effect("affidavitRequest", item, account.username, at);
    this.#parts.clock.schedule(at + ON_DEMAND_DELAY_MS, "evi-post.on-demand", {
      id: item.id,
      requestId,
    });
    return requestId;
  }

  /** Moves by hand; the planned rest is dropped unless it is to be kept. */
  move(item: PostItem, state: PostalState, outcome: string | undefined, keepPlan: boolean): void {
    const at = this.#parts.clock.now();
    const rest = item.plan.slice(
      item.plan.findIndex((step) => "state" in step && step.state === state) + 1,
    );
    this.enter(item, state, outcome, at);
    this.#replan(item, keepPlan ? rest : [], at);
    this.#parts.changed();
  }

  publish(
    item: PostItem,
    moment: AffidavitMoment,
    at: number,
    how: { requestId?: string; regenerates?: PostAffidavit; keepsId?: boolean } = {},
  ): PostAffidavit {
    const { requestId, regenerates } = how;
    const affidavit: PostAffidavit = {
      id: regenerates && how.keepsId ? regenerates.id : this.#parts.ids.uuid("evi-post.affidavit"),
      at,
      name: `${descriptions[moment]}.pdf`,
      description: regenerates?.description ?? descriptions[moment],
      revision: (regenerates?.revision ?? 0) + 1,
      ...(requestId !== undefined && { requestId }),
    };
    this.items.addAffidavit(item, affidavit);
    this.#callBack(item, "AffidavitPublished", at, {
      affidavit,
      isRegenerated: regenerates !== undefined,
    });
    this.#parts.changed();
    return affidavit;
  }

  effect(operation: string, item: PostItem, account: string, at: number): void {
    this.#parts.ledger.record({
      operation: `evi-post.${operation}`,
      intent: item.intent,
      itemId: item.id,
      at: new Date(at).toISOString(),
      account,
    });
    this.#parts.changed();
  }

  enter(item: PostItem, state: PostalState, outcome: string | undefined, at: number): void {
    const isNew = item.state !== state;
    if (outcome !== undefined) Object.assign(item, { outcome, outcomeAt: at });
    if (!isNew) return;
    Object.assign(item, { state, stateAt: at });
    if (state === "Processed") item.processedAt = at;
    if (state === "Sent") item.sentAt = at;
    this.#callBack(item, state, at);
  }

  #step({ id, version }: { id: string; version: number }, at: number): void {
    const item = this.items.get(id);
    const step = item?.plan[0];
    if (!item || !step || version !== item.planVersion) return;
    item.plan = item.plan.slice(1);
    if ("state" in step) {
      this.enter(item, step.state, step.outcome, at);
    } else if (step.affidavit === "submit" || step.affidavit === "close") {
      this.publish(item, step.affidavit, at);
    } else {
      const regenerates = item.affidavits.at(-1);
      const keepsId = step.affidavit === "regenerated";
      if (regenerates) this.publish(item, "close", at, { regenerates, keepsId });
    }
    this.#scheduleNext(item, at);
    this.#parts.changed();
  }

  #replan(item: PostItem, steps: Step[], at: number): void {
    item.plan = steps;
    item.planVersion += 1;
    this.#scheduleNext(item, at);
  }

  #scheduleNext(item: PostItem, at: number): void {
    const [step] = item.plan;
    if (!step) return;
    const data = { id: item.id, version: item.planVersion };
    const how = "inRealTime" in step ? { inRealTime: step.inRealTime } : {};
    this.#parts.clock.schedule(at + step.afterMs, "evi-post.step", data, how);
  }

  #callBack(item: PostItem, kind: string, at: number, more: Partial<PostEvent> = {}): void {
    if (!item.callback?.filter.includes(kind)) return;
    const { ids, accounts, callbacks } = this.#parts;
    const identifier = ids.uuid("evi-post.event");
    const event = { ...more, identifier, kind, at, number: ids.count("evi-post.event") };
    callbacks.emit(
      {
        provider: "evi-post",
        identifier,
        kind,
        itemId: item.id,
        intent: item.intent,
        lookupKeys: item.lookupKeys,
        account: item.account,
        magicKey: item.magicKey,
        url: item.callback.url,
        body: callbackBody(item, event, accounts.get(item.account)),
      },
      at,
    );
  }
}
