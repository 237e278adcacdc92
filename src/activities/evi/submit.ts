// A submit with an idempotency token: sent once, and after a lost answer looked up by our own key (P2 §4.1, §4.2;
// docs/reading-the-specification.md §1).
import type { Operation, Provider } from "../../providers/registry.js";
import type { OwnedDocument } from "../../journal/ownership.js";
import { runEffect } from "../runtime/effect.js";
import type { EffectCall, EffectKey } from "../runtime/effect.js";
import type { ProviderContext } from "../runtime/provider-context.js";

export interface KeyedSubmit<P extends Provider, T> {
  operation: Operation<P>;
  /** The part of the input that another run must repeat. */
  input: unknown;
  documents: OwnedDocument[];
  prepare(): Promise<T>;
  send(call: EffectCall<T>): Promise<{ uniqueId: string }>;
  /** The communication with this id, if the provider shows it. */
  find(uniqueId: string): Promise<{ lookupKey?: string } | undefined>;
  /**
   * The lookup key as it is sent, of which ours is the last part. Without it the look-up is by our own key alone, which the
   * provider keeps apart from the caller's.
   */
  wholeKeyOf?(ownKey: string): string;
  /** The communication with our own key, or with the whole one, if the provider shows it. */
  findByOwnKey(key: string): Promise<{ uniqueId: string; lookupKey?: string } | undefined>;
  /** Whether our own key is the item's whole lookup key, or one of several that the provider joins (P2 §2.4). */
  form: KeyForm;
}

type KeyForm = "alone" | "joined";

export function submitOnce<P extends Provider, T>(
  context: ProviderContext<P>,
  effect: EffectKey,
  { find, findByOwnKey, wholeKeyOf = (ownKey) => ownKey, form, ...submit }: KeyedSubmit<P, T>,
): Promise<{ uniqueId: string }> {
  return runEffect<P, { uniqueId: string }, T, string>(context, effect, {
    ...submit,
    findShown: async (uniqueId, token) =>
      hasOwnKey(await find(uniqueId), token) ? { uniqueId } : undefined,
    async lookUp(token) {
      const item = await findByOwnKey(wholeKeyOf(token));
      return item && { uniqueId: item.uniqueId };
    },
    assumed: {
      form,
      isByToken: true,
      sampleOf: wholeKeyOf,
      find: async (key) => {
        const item = await findByOwnKey(key);
        return item && (item.lookupKey === ownKeyOf(key) ? "alone" : "joined");
      },
    },
  });
}

/** The caller's key and ours, joined as the provider joins several (P2 §2.4; docs/reading-the-specification.md §1). */
export function joinedKey(lookupKey: string | undefined, ownKey: string): string {
  return [lookupKey, ownKey].filter(Boolean).join("::");
}

/** The part of `joinedKey` that is ours. */
export function ownKeyOf(key: string): string {
  return key.split("::").at(-1) ?? key;
}

function hasOwnKey(item: { lookupKey?: string } | undefined, key: string): boolean {
  return item?.lookupKey?.split("::").includes(key) ?? false;
}

/** Our own key may be one of several in `lookupKey`, joined with `::` (docs/reading-the-specification.md §1). */
export function withOwnKey<
  P extends "evi-post" | "evi-notice",
  Item extends { lookupKey?: string },
>(
  context: ProviderContext<P>,
  key: string,
  { results, hasMore }: { results: Item[]; hasMore: boolean },
): Item | undefined {
  const found = results.find((item) => hasOwnKey(item, key));
  if (found) return found;
  // More than one page for a key that is unique: the query does not filter as assumed, so it proves no absence.
  if (hasMore)
    throw context.problem("query", "a query by our own key reports more matches than it returns");
  // It may be ours: the specification shows the key of a letter (P2 §2.5), and not that of a notice (P2 §2.7).
  if (results.some(({ lookupKey }) => lookupKey === undefined))
    throw context.problem("query", "a query by our own key returns an item without its key");
  return undefined;
}
