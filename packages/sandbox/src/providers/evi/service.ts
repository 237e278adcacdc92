// What happens to the communications of a notification service: moved on by the clock, given affidavits, moved by hand; each
// change may call back.
import type { Account } from "../../engine/accounts.js";
import type { FaultRule } from "../../engine/faults.js";
import type { SandboxParts } from "../../engine/parts.js";
import { hide } from "../../engine/visibility.js";
import type { Publication, SandboxProvider } from "../../exchange/operation.js";
import { EviItems, joinedLookupKey, type Affidavit, type EviItem, type Step } from "./item.js";

const ON_DEMAND_DELAY_MS = 5 * 60_000;

type StateOf<Item extends EviItem> = Item["state"];
/** What an affidavit of the service can be about. */
type MomentOf<Item extends EviItem> = Item extends EviItem<string, infer Moment> ? Moment : never;

/** One service: its name, and what it says of its affidavits and events. */
export interface ServiceDescription<Item extends EviItem> {
  provider: string;
  states: readonly StateOf<Item>[];
  /** Which of its affidavits answers a request, and which one comes at the end. */
  moments: Record<"onDemand" | "closing", MomentOf<Item>>;
  affidavit(moment: MomentOf<Item>): Pick<Affidavit, "description" | "kind">;
  callbackBody(item: Item, event: EviEvent, account: Account | undefined): string;
  /** The item has come into the state. */
  entered?(item: Item, at: number): void;
}

/** Who submits, and what the magic words and faults of the submit ask for. */
export interface Origin<Magic> {
  account: Account;
  at: number;
  magic?: Magic | undefined;
  magicKey?: string | undefined;
  faults: FaultRule[];
}

/** What every service sets in the same way. */
type Common = Exclude<keyof EviItem, "intent" | "lookupKeys" | "callback" | "outcomeAt" | "plan">;

export class EviService<Item extends EviItem> {
  readonly items: EviItems<Item>;
  readonly parts: SandboxParts;
  readonly #description: ServiceDescription<Item>;

  constructor(parts: SandboxParts, description: ServiceDescription<Item>) {
    this.parts = parts;
    this.#description = description;
    const { provider } = description;
    this.items = new EviItems(provider, parts.options.lookupKeyMatching);
    parts.clock.on(`${provider}.step`, (data: { id: string; version: number }, at) =>
      this.#step(data, at),
    );
    parts.clock.on(`${provider}.on-demand`, (data: { id: string; requestId: string }, at) => {
      const item = this.items.get(data.id);
      const { onDemand } = description.moments;
      if (item) this.publish(item, onDemand, at, { requestId: data.requestId });
    });
  }

  keep(members: Omit<Item, Common>, { account, at, magicKey, faults }: Origin<unknown>): Item {
    const item = {
      ...members,
      id: this.parts.ids.uuid(this.#description.provider),
      account: account.username,
      site: account.site.name,
      magicKey,
      state: "Submitted",
      stateAt: at,
      outcome: "None",
      createdAt: at,
      affidavits: [],
      planVersion: 0,
    } as unknown as Item;
    hide(item, faults);
    this.items.add(item);
    this.scheduleNext(item, at);
    return item;
  }

  requestAffidavit(item: Item, account: Account, at: number): string {
    const { provider } = this.#description;
    const requestId = this.parts.ids.uuid(`${provider}.request`);
    this.effect("affidavitRequest", item, account.username, at);
    const data = { id: item.id, requestId };
    this.parts.clock.schedule(at + ON_DEMAND_DELAY_MS, `${provider}.on-demand`, data);
    return requestId;
  }

  /** What the control API may do; the planned rest of a moved item is dropped unless it is to be kept. */
  control(): Required<Pick<SandboxProvider, "move" | "publish">> {
    const { states } = this.#description;
    return {
      move: (id, { state, outcome, keepPlan = false }) => {
        const item = this.items.get(id);
        if (!item) return undefined;
        if (!states.includes(state)) return `state: must be one of ${states.join(", ")}`;
        this.#move(item, state, outcome, keepPlan);
        return this.items.view(item);
      },
      publish: (id, publication) => {
        const item = this.items.get(id);
        if (!item) return undefined;
        const affidavit = this.#publishAgain(item, publication);
        return affidavit ? { ...affidavit } : "regenerates: no such affidavit";
      },
    };
  }

  #move(item: Item, state: StateOf<Item>, outcome: string | undefined, keepPlan: boolean): void {
    const at = this.parts.clock.now();
    const rest = item.plan.slice(
      item.plan.findIndex((step) => "state" in step && step.state === state) + 1,
    );
    this.enter(item, state, outcome, at);
    this.replan(item, keepPlan ? rest : [], at);
    this.parts.changed();
  }

  publish(
    item: Item,
    moment: MomentOf<Item>,
    at: number,
    how: { requestId?: string; regenerates?: Affidavit; keepsId?: boolean } = {},
  ): Affidavit {
    const { requestId, regenerates } = how;
    const { provider } = this.#description;
    const { description, kind } = this.#description.affidavit(moment);
    const affidavit: Affidavit = {
      id:
        regenerates && how.keepsId ? regenerates.id : this.parts.ids.uuid(`${provider}.affidavit`),
      at,
      name: `${description}.pdf`,
      description: regenerates?.description ?? description,
      revision: (regenerates?.revision ?? 0) + 1,
      ...(requestId !== undefined && { requestId }),
      ...(kind !== undefined && { kind: regenerates?.kind ?? kind }),
    };
    this.items.addAffidavit(item, affidavit);
    this.#callBack(item, "AffidavitPublished", at, {
      affidavit,
      isRegenerated: regenerates !== undefined,
    });
    this.parts.changed();
    return affidavit;
  }

  effect(operation: string, item: Item, account: string, at: number): void {
    const { id: itemId, intent } = item;
    const name = `${this.#description.provider}.${operation}`;
    this.parts.ledger.record({ operation: name, intent, itemId, at, account });
  }

  enter(item: Item, state: StateOf<Item>, outcome: string | undefined, at: number): void {
    const isNew = item.state !== state;
    if (outcome !== undefined) Object.assign(item, { outcome, outcomeAt: at });
    if (!isNew) return;
    Object.assign(item, { state, stateAt: at });
    this.#description.entered?.(item, at);
    this.#callBack(item, state, at);
  }

  replan(item: Item, steps: Item["plan"], at: number): void {
    item.plan = steps;
    item.planVersion += 1;
    this.scheduleNext(item, at);
  }

  scheduleNext(item: Item, at: number): void {
    const [step] = item.plan;
    if (!step) return;
    const data = { id: item.id, version: item.planVersion };
    const how = "inRealTime" in step ? { inRealTime: step.inRealTime } : {};
    this.parts.clock.schedule(at + step.afterMs, `${this.#description.provider}.step`, data, how);
  }

  /** By hand. Undefined: the affidavit that is to be published again does not exist. */
  #publishAgain(
    item: Item,
    { regenerates, keepsId, requestId }: Publication,
  ): Affidavit | undefined {
    const earlier = item.affidavits.findLast((affidavit) => affidavit.id === regenerates);
    if (regenerates !== undefined && !earlier) return undefined;
    const { onDemand, closing } = this.#description.moments;
    return this.publish(
      item,
      requestId === undefined ? closing : onDemand,
      this.parts.clock.now(),
      {
        ...(requestId !== undefined && { requestId }),
        ...(earlier && { regenerates: earlier, keepsId: keepsId ?? true }),
      },
    );
  }

  #step({ id, version }: { id: string; version: number }, at: number): void {
    const item = this.items.get(id);
    const step = item?.plan[0] as Step<StateOf<Item>, MomentOf<Item>> | undefined;
    if (!item || !step || version !== item.planVersion) return;
    item.plan = item.plan.slice(1);
    if ("state" in step) {
      this.enter(item, step.state, step.outcome, at);
    } else if (step.affidavit === "regenerated" || step.affidavit === "regenerated-new-id") {
      const regenerates = item.affidavits.at(-1);
      const keepsId = step.affidavit === "regenerated";
      const { closing } = this.#description.moments;
      if (regenerates) this.publish(item, closing, at, { regenerates, keepsId });
    } else {
      this.publish(item, step.affidavit, at);
    }
    this.scheduleNext(item, at);
    this.parts.changed();
  }

  #callBack(item: Item, kind: string, at: number, more: Partial<EviEvent> = {}): void {
    const { id: itemId, intent, lookupKeys, account, magicKey, callback } = item;
    if (!callback?.filter.includes(kind)) return;
    const { ids, accounts, callbacks } = this.parts;
    const { provider } = this.#description;
    const identifier = ids.uuid(`${provider}.event`);
    const event = { ...more, identifier, kind, at, number: ids.count(`${provider}.event`) };
    const body = this.#description.callbackBody(item, event, accounts.get(account));
    const subject = { itemId, intent, lookupKeys, account, magicKey };
    callbacks.emit({ provider, identifier, kind, ...subject, url: callback.url, body }, at);
  }
}

// The callback envelope that all notification services share (P2 §2.11–2.12).

export interface EviEvent {
  identifier: string;
  kind: string;
  at: number;
  affidavit?: Affidavit;
  isRegenerated?: boolean;
  /** Counts the events, so that `Owner` comes filled, null and absent in turn. */
  number: number;
}

interface ServiceMembers {
  EvidenceType: string;
  /** Of `AdditionalData`: who sends to whom, and what the event says. */
  parties: Record<string, unknown>;
  details: Record<string, unknown>;
}

export function callbackBody(
  item: EviItem,
  event: EviEvent,
  account: Account | undefined,
  { EvidenceType, parties, details }: ServiceMembers,
): string {
  const { kind, affidavit } = event;
  const owner = [{ Owner: account?.ownerName ?? item.account }, { Owner: null }, {}][
    event.number % 3
  ];
  return JSON.stringify({
    Identifier: event.identifier,
    Kind: kind,
    Date: new Date(event.at).toISOString(),
    EvidenceId: item.id,
    EvidenceType,
    EvidenceState: null,
    Site: item.site,
    ...owner,
    OwnerEmail: account?.ownerEmail ?? `${item.account}@sandbox.invalid`,
    AdditionalData: {
      ...parties,
      LookupKey: joinedLookupKey(item),
      State: item.state,
      CreationDate: new Date(item.createdAt).toISOString(),
      ...(item.callback?.extraData !== undefined && { ExtraData: item.callback.extraData }),
      ...details,
      ...(kind === "Closed" && { Outcome: item.outcome }),
      ...(affidavit && { AffidavitId: affidavit.id, AffidavitName: affidavit.name }),
      ...(affidavit?.requestId !== undefined && { RequestId: affidavit.requestId }),
      ...(event.isRegenerated && { Regenerated: true }),
    },
  });
}
