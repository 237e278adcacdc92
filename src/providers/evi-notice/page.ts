// One page of a query with a cursor, and the limits of its size (P2 §4.2, §4.3, §8).
import { misuseError } from "../http/answer.js";
import { asking } from "./translate.js";
import { limits } from "./wire.js";

export interface Page<T> {
  results: T[];
  /** To be passed back for the next page; absent on the last one. */
  cursor?: string;
}

export function page<R, T>(
  { Cursor, Results }: { Cursor?: string | undefined; Results: R[] },
  read: (result: R) => T,
): Page<T> {
  return { results: Results.map((one) => read(one)), ...(Cursor && { cursor: Cursor }) };
}

/** Throws ProviderError `protocol` where the specification does not allow the limit: nothing was sent. */
export function checkLimit(
  operation: "query" | "queryBatches" | "queryRecipients",
  limit: number | undefined,
): void {
  const { least, most } = limits[operation];
  if (limit === undefined || (Number.isInteger(limit) && limit >= least && limit <= most)) return;
  throw misuseError(asking(operation), `the limit must be ${least} to ${most}`);
}
