// Rows of the inbox that a relay has claimed, and their possible results.

export interface Claimed {
  id: string;
  address: string;
  identifier: string;
  provider: string;
  attempts: number;
  /** Tries that the row itself has failed, or in which a relay has died. */
  failures: number;
  size: number;
  receivedAt: Date;
  sealedBody: Buffer;
}

/** A row of a process, which came to its own address or to that of an account. */
export type ClaimedRow = Claimed & { namespace: string; workflowId: string } & (
    | { account: null }
    | { account: string }
  );

/** A row of an account whose process is not known yet. */
export interface UnaddressedRow extends Claimed {
  account: string;
}

/** The reference in the body, by which the process of a row can be found. */
export interface Referred {
  row: UnaddressedRow;
  reference: string;
}

/** A row with so many failures is tried alone, beside the other rows of its process. */
export const FAILURES_UNTIL_ALONE = 5;
/** A row with so many failures is parked. */
export const MAX_FAILURES = 20;

/** Why a row is parked. */
export const parkReasons = [
  "correlationMismatch",
  "refusedByTemporal",
  "undecryptable",
  "undeliverable",
  "unknownProcess",
  "unknownProvider",
  "unmatched",
  "unreadable",
] as const;
type ParkReason = (typeof parkReasons)[number];

/**
 * `waiting` frees the row to wait for that many milliseconds, together with the other rows of its process; an unaddressed row and one that
 * is tried alone wait by themselves. `isFailure`: the row has failed, and not the server.
 */
export type Settlement =
  | { state: "delivered" | "late" | "kept" }
  | Parked
  | { state: "waiting"; pauseMs: number; isFailure?: true };

export interface Parked {
  state: "parked";
  reason: ParkReason;
  detail?: string;
}

/** The row has failed for the last time. `how`: its last failure. */
export function undeliverable(how: string): Parked {
  const detail = `${MAX_FAILURES} tries failed; the last one: ${how}`;
  return { state: "parked", reason: "undeliverable", detail };
}

/** Writes the result of each row, equal results in one statement. */
export async function settleRows<R extends Claimed>(
  settled: { row: R; settlement: Settlement }[],
  settle: (rows: R[], settlement: Settlement) => Promise<void>,
): Promise<void> {
  const alike = new Map<string, { settlement: Settlement; rows: R[] }>();
  for (const { row, settlement } of settled) {
    const key = JSON.stringify(settlement);
    const same = alike.get(key) ?? { settlement, rows: [] };
    same.rows.push(row);
    alike.set(key, same);
  }
  for (const { rows, settlement } of alike.values()) await settle(rows, settlement);
}
