// What the control API may do with the communications of a notification service, and how they are kept.
import type { IdempotencyState, IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import { summary, type EviItem } from "./item.js";
import type { EviService } from "./service.js";

interface ItemsState<Item> {
  items: Item[];
  tokens: IdempotencyState;
}

/** An item without its callback address, which is a capability. */
function view(provider: string, item: EviItem): Record<string, unknown> {
  const { callback, ...rest } = item;
  return {
    ...rest,
    ...summary(provider, item),
    ...(callback && { callbackFilter: callback.filter }),
  };
}

type Kept = "items" | "item" | "move" | "publish" | "save" | "load" | "clear";

export function itemControlOf<Item extends EviItem>(
  provider: string,
  service: EviService<Item>,
  tokens: IdempotencyTokens,
  states: readonly Item["state"][],
): Required<Pick<SandboxProvider, Kept>> {
  const { items } = service;
  return {
    *items() {
      for (const item of items.all()) yield summary(provider, item);
    },
    item(id) {
      const item = items.get(id);
      return item && view(provider, item);
    },
    move(id, { state, outcome, keepPlan }) {
      const item = items.get(id);
      if (!item) return undefined;
      if (!states.includes(state)) return `state: must be one of ${states.join(", ")}`;
      service.move(item, state, outcome, keepPlan ?? false);
      return view(provider, item);
    },
    publish(id, publication) {
      const item = items.get(id);
      if (!item) return undefined;
      const affidavit = service.publishAgain(item, publication);
      return affidavit ? { ...affidavit } : "regenerates: no such affidavit";
    },
    save: (): ItemsState<Item> => ({ items: [...items.all()], tokens: tokens.save() }),
    load(state) {
      const saved = state as ItemsState<Item>;
      items.clear();
      for (const item of saved.items) items.add(item);
      tokens.load(saved.tokens);
    },
    clear() {
      items.clear();
      tokens.clear();
    },
  };
}
