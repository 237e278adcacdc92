// A communication as a notification service keeps it, and the collection of all of them, found by id, lookup key and site.
import type { ItemSummary } from "../../exchange/operation.js";
import type { Hideable } from "../../engine/visibility.js";
import type { LookUpKeyMatching } from "../../options.js";
import type { CallbackSettings } from "./callback-check.js";

export interface Affidavit {
  id: string;
  at: number;
  name: string;
  description: string;
  revision: number;
  requestId?: string;
  /** The notice's word for what it attests (P2 §2.6). */
  kind?: string;
}

/** `state` moves; `affidavit` publishes one, or the newest one again. Delays count from the step before. */
export type Step<State extends string = string, Moment extends string = string> =
  | {
      afterMs: number;
      state: State;
      outcome?: string;
      /** The time is a person's. */
      inRealTime?: true;
    }
  | { afterMs: number; affidavit: Moment | "regenerated" | "regenerated-new-id" };

export interface EviItem<
  State extends string = string,
  Moment extends string = string,
> extends Hideable {
  id: string;
  account: string;
  site: string;
  /** The caller's LookupKey: what the ledger counts by. */
  intent: string | null;
  lookupKeys: string[];
  magicKey?: string;
  callback?: CallbackSettings;
  state: State;
  stateAt: number;
  outcome: string;
  outcomeAt?: number;
  createdAt: number;
  affidavits: Affidavit[];
  plan: Step<State, Moment>[];
  /** Counts changes of the plan, so that a step that was scheduled before does nothing. */
  planVersion: number;
}

export function summary(provider: string, item: EviItem): ItemSummary {
  const { id, intent, account, state, outcome, createdAt } = item;
  return {
    provider,
    id,
    intent,
    account,
    state,
    outcome,
    createdAt: new Date(createdAt).toISOString(),
  };
}

const JOINT = "::";
export const joinedLookupKey = (item: EviItem) => item.lookupKeys.join(JOINT);

/** One entry for each id: a regenerated affidavit that kept its id stands in for the first. */
export function newestAffidavits(item: EviItem): Affidavit[] {
  return [...new Map(item.affidavits.map((affidavit) => [affidavit.id, affidavit])).values()];
}

export class EviItems<Item extends EviItem> {
  readonly #byId = new Map<string, Item>();
  readonly #byLookupKey = new Map<string, Item[]>();
  readonly #bySite = new Map<string, Item[]>();
  readonly #byAffidavit = new Map<string, Item>();
  readonly #matching: LookUpKeyMatching;

  constructor(matching: LookUpKeyMatching) {
    this.#matching = matching;
  }

  add(item: Item): void {
    this.#byId.set(item.id, item);
    for (const key of this.#keysOf(item)) append(this.#byLookupKey, key, item);
    append(this.#bySite, item.site, item);
    for (const affidavit of item.affidavits) this.#byAffidavit.set(affidavit.id, item);
  }

  #keysOf(item: Item): Set<string> {
    if (this.#matching === "none") return new Set();
    const parts = this.#matching === "parts" ? item.lookupKeys : [];
    return new Set([...parts, joinedLookupKey(item)]);
  }

  addAffidavit(item: Item, affidavit: Affidavit): void {
    item.affidavits.push(affidavit);
    this.#byAffidavit.set(affidavit.id, item);
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id.toLowerCase());
  }

  withLookupKey(key: string): Item[] {
    return this.#byLookupKey.get(key) ?? [];
  }

  ofSite(site: string): Item[] {
    return this.#bySite.get(site) ?? [];
  }

  affidavit(id: string): { item: Item; affidavit: Affidavit } | undefined {
    const item = this.#byAffidavit.get(id.toLowerCase());
    // The newest revision under an id is the one that is handed out.
    const affidavit = item?.affidavits.findLast((candidate) => candidate.id === id.toLowerCase());
    return item && affidavit && { item, affidavit };
  }

  all(): Iterable<Item> {
    return this.#byId.values();
  }

  clear(): void {
    for (const index of [this.#byId, this.#byLookupKey, this.#bySite, this.#byAffidavit])
      index.clear();
  }
}

function append<Item>(index: Map<string, Item[]>, key: string, item: Item): void {
  const items = index.get(key);
  if (items) items.push(item);
  else index.set(key, [item]);
}
