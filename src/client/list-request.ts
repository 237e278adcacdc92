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
export type ListedState = keyof typeof states;
export const listedStates = Object.keys(states) as ListedState[];

export type OneOrMore<T> = T | readonly T[];

/** A process must meet all of them. Of several values it must have one. */
export interface ListFilter {
  process?: ProcessName;
  /** Only processes that need an operator decision. */
  attention?: boolean;
  /** Only processes whose workflow tasks keep failing. */
  stuck?: boolean;
  /** Also asks Temporal for the calls of each open process: one question for each. */
  retrying?: boolean;
  state?: OneOrMore<ListedState>;
  outcome?: OneOrMore<string>;
  phase?: OneOrMore<Phase>;
  account?: OneOrMore<string>;
  /** Only processes that need an operator decision of this kind. */
  kind?: OneOrMore<AttentionKind>;
  startedBefore?: Date;
  startedAfter?: Date;
  deadlineBefore?: Date;
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
export type SortKey = (typeof sortKeys)[number];

/** The order of a list. Without it, Temporal's own: open processes first, the newest first. */
export interface ListOrder {
  /** Ascending; processes without a value come last. All processes that meet the filter are read for each page. */
  sort?: SortKey;
  /** Descending. */
  reverse?: boolean;
}

/** The next page needs its cursor alone, which has the filter and the order. */
export type PageRequest = { limit: number } & ((ListFilter & ListOrder) | { cursor: string });
