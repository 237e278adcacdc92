// An item that is there, but is missed by the first reads: for so many of them, or until a real time.
import type { FaultRule } from "./faults.js";

const DEFAULT_HIDDEN_QUERIES = 2;

export interface Hideable {
  hiddenQueries?: number;
  hiddenUntil?: number;
}

/** Where a fault `invisible` hit the call that made the item. */
export function hide(item: Hideable, faults: FaultRule[]): void {
  const hidden = faults.find((rule) => rule.kind === "invisible");
  if (hidden?.ms !== undefined) item.hiddenUntil = Date.now() + hidden.ms;
  else if (hidden) item.hiddenQueries = hidden.queries ?? DEFAULT_HIDDEN_QUERIES;
}

/** Whether the item can be seen; a read that misses it counts. */
export function isVisible(item: Hideable): boolean {
  if (item.hiddenUntil !== undefined) return Date.now() >= item.hiddenUntil;
  if (!item.hiddenQueries) return true;
  item.hiddenQueries -= 1;
  return false;
}
