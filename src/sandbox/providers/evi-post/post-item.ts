// A communication as the simulated provider keeps it, and the shelf of all of them, found by id, lookup key and site.
import type { ItemSummary } from "../../exchange/operation.js";
import type { Hideable } from "../../engine/visibility.js";
import type { Modifier } from "./magic.js";
import type { PostalState, Step } from "./lifecycle.js";
import type { PostalAddress } from "./address-check.js";
import type { AffidavitProfile, CallbackSettings, ServiceType } from "./options-check.js";

export interface PostAffidavit {
  id: string;
  at: number;
  name: string;
  description: string;
  revision: number;
  requestId?: string;
}

export interface PostItem extends Hideable {
  id: string;
  account: string;
  site: string;
  /** The caller's LookupKey: what the ledger counts by. */
  intent: string | null;
  lookupKeys: string[];
  magicKey?: string;
  modifiers: Modifier[];
  service: ServiceType;
  profile: AffidavitProfile;
  isOnDemandEnabled: boolean;
  documentSha256: string;
  recipientName?: string;
  recipient: string;
  sender: string;
  address: PostalAddress;
  costCentre?: string;
  callback?: CallbackSettings;
  state: PostalState;
  stateAt: number;
  outcome: string;
  outcomeAt?: number;
  createdAt: number;
  processedAt?: number;
  sentAt?: number;
  affidavits: PostAffidavit[];
  plan: Step[];
  /** Counts changes of the plan, so that a step that was scheduled before does nothing. */
  planVersion: number;
}

export function summary(item: PostItem): ItemSummary {
  const { id, intent, account, state, outcome, createdAt } = item;
  return {
    provider: "evi-post",
    id,
    intent,
    account,
    state,
    outcome,
    createdAt: new Date(createdAt).toISOString(),
  };
}

const JOINT = "::";
export const joinedLookupKey = (item: PostItem) => item.lookupKeys.join(JOINT);

export class PostItems {
  readonly #byId = new Map<string, PostItem>();
  readonly #byLookupKey = new Map<string, PostItem[]>();
  readonly #bySite = new Map<string, PostItem[]>();
  readonly #byAffidavit = new Map<string, PostItem>();
  readonly #matching: "parts" | "whole";

  constructor(matching: "parts" | "whole") {
    this.#matching = matching;
  }

  add(item: PostItem): void {
    this.#byId.set(item.id, item);
    const keys = this.#matching === "whole" ? [] : item.lookupKeys;
    for (const key of new Set([...keys, joinedLookupKey(item)]))
      append(this.#byLookupKey, key, item);
    append(this.#bySite, item.site, item);
    for (const affidavit of item.affidavits) this.#byAffidavit.set(affidavit.id, item);
  }

  addAffidavit(item: PostItem, affidavit: PostAffidavit): void {
    item.affidavits.push(affidavit);
    this.#byAffidavit.set(affidavit.id, item);
  }

  get(id: string): PostItem | undefined {
    return this.#byId.get(id.toLowerCase());
  }

  withLookupKey(key: string): PostItem[] {
    return this.#byLookupKey.get(key) ?? [];
  }

  ofSite(site: string): PostItem[] {
    return this.#bySite.get(site) ?? [];
  }

  affidavit(id: string): { item: PostItem; affidavit: PostAffidavit } | undefined {
    const item = this.#byAffidavit.get(id.toLowerCase());
    // The newest revision under an id is the one that is handed out.
    const affidavit = item?.affidavits.findLast((candidate) => candidate.id === id.toLowerCase());
    return item && affidavit && { item, affidavit };
  }

  all(): Iterable<PostItem> {
    return this.#byId.values();
  }

  clear(): void {
    for (const index of [this.#byId, this.#byLookupKey, this.#bySite, this.#byAffidavit])
      index.clear();
  }
}

function append(index: Map<string, PostItem[]>, key: string, item: PostItem): void {
  const items = index.get(key);
  if (items) items.push(item);
  else index.set(key, [item]);
}
