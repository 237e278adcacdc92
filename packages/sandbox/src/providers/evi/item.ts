// A communication as a notification service keeps it, and the collection of all of them, found by id, lookup key and site.
import { Shelf } from "../../exchange/kept.js";
import type { Description } from "../../exchange/operation.js";
import { pdf } from "../../exchange/pdf.js";
import type { Hideable } from "../../engine/visibility.js";
import type { LookUpKeyMatching } from "../../options.js";
import type { CallbackSettings } from "./checks.js";

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
  magicKey?: string | undefined;
  callback?: CallbackSettings | undefined;
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

const JOINT = "::";
export const joinedLookupKey = (item: EviItem) => item.lookupKeys.join(JOINT);

/** One entry for each id: a regenerated affidavit that kept its id stands in for the first. */
export function newestAffidavits(item: EviItem): Affidavit[] {
  return [...new Map(item.affidavits.map((affidavit) => [affidavit.id, affidavit])).values()];
}

/** The PDF of an affidavit, made again for each request; `facts`: what the service says of the item. */
export function affidavitPdf(item: EviItem, affidavit: Affidavit, facts: string[]): Buffer {
  const [first = "", ...rest] = facts;
  return pdf([
    affidavit.description,
    "Trustflow sandbox: evidence of nothing",
    "",
    first,
    `Affidavit ${affidavit.id}, revision ${affidavit.revision}`,
    `Published ${new Date(affidavit.at).toISOString()}`,
    ...rest,
    `Submitted ${new Date(item.createdAt).toISOString()}`,
    ...(affidavit.requestId === undefined ? [] : [`Request ${affidavit.requestId}`]),
  ]);
}

export function describeItem(item: EviItem | undefined): Description {
  if (!item) return { intent: null, lookupKeys: [] };
  return { intent: item.intent, lookupKeys: item.lookupKeys, magicKey: item.magicKey };
}

/** P2 §4.1, §4.2: the id of an item. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class EviItems<Item extends EviItem> extends Shelf<Item> {
  readonly #byLookupKey = new Map<string, Item[]>();
  readonly #byAffidavit = new Map<string, Item>();
  readonly #matching: LookUpKeyMatching;

  constructor(provider: string, matching: LookUpKeyMatching) {
    // The callback address is a capability.
    super(
      provider,
      () => ({}),
      ({ callback, ...rest }) => ({
        ...rest,
        ...(callback && { callbackFilter: callback.filter }),
      }),
    );
    this.#matching = matching;
  }

  override add(item: Item): void {
    super.add(item);
    for (const key of this.#keysOf(item)) {
      const items = this.withLookupKey(key);
      items.push(item);
      this.#byLookupKey.set(key, items);
    }
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

  override get(id: unknown): Item | undefined {
    return typeof id === "string" ? super.get(id.toLowerCase()) : undefined;
  }

  withLookupKey(key: string): Item[] {
    return this.#byLookupKey.get(key) ?? [];
  }

  affidavit(id: string): { item: Item; affidavit: Affidavit } | undefined {
    const item = this.#byAffidavit.get(id.toLowerCase());
    // The newest revision under an id is the one that is handed out.
    const affidavit = item?.affidavits.findLast((candidate) => candidate.id === id.toLowerCase());
    return item && affidavit && { item, affidavit };
  }

  override clear(): void {
    super.clear();
    this.#byLookupKey.clear();
    this.#byAffidavit.clear();
  }
}
