// An effect has its own row, and the rows before and after it that a person's decisions to send again have linked.
import type { Effect } from "./effect.js";
import { nextAction } from "./next-action.js";
import type { CallAction, CallCause } from "./next-action.js";
import type { Row } from "./row.js";

/** `rows` are all rows of the step, in the order they were made. Other occurrences of the step may be other effects. */
export function chainOf<R extends Row>(rows: R[], occurrence: string): R[] {
  const chain = rows.filter((row) => row.occurrence === occurrence);
  for (const row of rows.toReversed())
    if (row.nextOccurrence === chain[0]?.occurrence) chain.unshift(row);
  for (const row of rows) if (row.occurrence === chain.at(-1)?.nextOccurrence) chain.push(row);
  return chain;
}

export function hasOtherInput(effect: Effect, { digest }: Row): boolean {
  return digest !== null && !effect.sameDigest(digest);
}

export interface Planned {
  row: Row | undefined;
  action: CallAction;
}

export interface Plan {
  /** The row to take if every step allows it. */
  newest: Row | undefined;
  /** The actions that come first, in this order. */
  steps: Planned[];
}

/**
 * Decides the next action for the effect. The newest row decides, but a late answer to an earlier row counts too, and an
 * earlier row without an answer is looked up first.
 */
export function planOf(rows: Row[], effect: Effect, cause: CallCause): Plan {
  const { effectClass } = effect;
  const chain = chainOf(rows, effect.occurrence).map((row) => {
    const facts = { ...row, hasOtherInput: hasOtherInput(effect, row) };
    return { row, action: nextAction(facts, effectClass, cause) };
  });
  const first = { row: undefined, action: nextAction(undefined, effectClass, cause) };
  const newest: Planned = chain.at(-1) ?? first;
  const earlier = chain.slice(0, -1);
  const mismatch = chain.find(({ action }) => action.do === "mismatch");
  const isDecided = newest.action.do === "answer" || newest.action.do === "wait";
  const late = earlier.find(({ action }) => action.do === "answer");
  const decisive = mismatch ?? (isDecided ? newest : late);
  if (decisive) return { newest: newest.row, steps: [decisive] };
  const open = earlier.filter(({ row }) => cause.by === "call" && row.state === "sending");
  return { newest: newest.row, steps: [...open, newest] };
}
