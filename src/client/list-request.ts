// What a caller asks of a list: filter, order and page. It loads nothing of Temporal, because every command knows the filters.
import type { ProcessName } from "../contracts/registry.js";
import type { AttentionKind } from "../contracts/shared/failures.js";
import type { Phase } from "../contracts/shared/status.js";

/** Temporal's status of a process, as a filter names it, and as a query does. */
export const states = {
  running: "Running",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Canceled",
  terminated: "Terminated",
  timed_out: "TimedOut",
};
/** Temporal's status of a process, as a filter names it. */
export type ListedState = keyof typeof states;
export const listedStates = Object.keys(states) as ListedState[];

export type OneOrMore<T> = T | readonly T[];

/** A process must meet all of them. Of several values it must have one. Default of each: it may be anything. */
export interface ListFilter {
  /** Only this process, such as `sendPostal`. */
  process?: ProcessName;
  /** Only processes that need an operator decision. */
  attention?: boolean;
  /** Only processes whose workflow tasks keep failing. */
  stuck?: boolean;
  /** Also asks Temporal for the calls of each open process: one question for each. */
  retrying?: boolean;
  /** Only processes in this state of Temporal. */
  state?: OneOrMore<ListedState>;
  /** Only processes that have ended with this outcome. */
  outcome?: OneOrMore<string>;
  /** Only processes in this phase, as they told Temporal: after the submit, with an attention, and at the end. */
  phase?: OneOrMore<Phase>;
  /** Only processes of this configured account. */
  account?: OneOrMore<string>;
  /** Only processes that need an operator decision of this kind. */
  kind?: OneOrMore<AttentionKind>;
  /** Only processes that were started before this time. */
  startedBefore?: Date;
  /** Only processes that were started at this time or later. */
  startedAfter?: Date;
  /** Only processes whose deadline is before this time. */
  deadlineBefore?: Date;
  /** Only processes whose deadline is this time or later. */
  deadlineAfter?: Date;
  /**
   * Only processes that need an operator decision and give a reason that has this text, in capitals or not. Temporal does not know the
   * reasons, so each process that meets the rest of the filter is read.
   */
  reason?: string;
}

export const sortKeys = [
  "id",
  "started",
  "deadline",
  "phase",
  "outcome",
  "attention",
  "account",
] as const;
/** A column by which a list is sorted. */
export type SortKey = (typeof sortKeys)[number];

/** The order of a list. Without it, Temporal's own: first the open processes, the newest first, then the others, the last ended first. */
export interface ListOrder {
  /** Ascending; processes without a value come last. All processes that meet the filter are read for each page. Default: Temporal's order. */
  sort?: SortKey;
  /** Descending. Default: `false`. */
  reverse?: boolean;
}

/** Each member of a filter and an order. */
export const listMembers = Object.keys({
  ...{ process: 1, attention: 1, stuck: 1, retrying: 1, state: 1, outcome: 1, phase: 1 },
  ...{ account: 1, kind: 1, reason: 1, sort: 1, reverse: 1 },
  ...{ startedBefore: 1, startedAfter: 1, deadlineBefore: 1, deadlineAfter: 1 },
} satisfies Record<keyof (ListFilter & ListOrder), 1>);

/**
 * The next page needs its cursor alone, which has the filter and the order. Take no cursor from a user whom you do not trust: it can name
 * any filter, and so show every process.
 */
export type PageRequest = { limit: number } & ((ListFilter & ListOrder) | { cursor: string });
