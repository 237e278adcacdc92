// Rows of the inbox that a relay has claimed, and their possible results.

export interface Claimed {
  id: string;
  address: string;
  identifier: string;
  provider: string;
  attempts: number;
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

/** Why a row is parked. */
export const parkReasons = [
  "correlationMismatch",
  "refusedByTemporal",
  "undecryptable",
  "unknownProcess",
  "unknownProvider",
  "unmatched",
  "unreadable",
] as const;
type ParkReason = (typeof parkReasons)[number];

/**
 * The result of a row. `waiting` frees it to wait for that many milliseconds, together with the other rows of its process; an
 * unaddressed row waits alone.
 */
export type Settlement =
  | { state: "delivered" | "late" | "kept" }
  | { state: "parked"; reason: ParkReason; detail?: string }
  | { state: "waiting"; pauseMs: number };

/** Writes the result of each row, equal results in one statement. */
export async function settleRows<R extends Claimed>(
  verdicts: { row: R; settlement: Settlement }[],
  settle: (rows: R[], settlement: Settlement) => Promise<void>,
): Promise<void> {
  const alike = new Map<string, { settlement: Settlement; rows: R[] }>();
  for (const { row, settlement } of verdicts) {
    const key = JSON.stringify(settlement);
    const same = alike.get(key) ?? { settlement, rows: [] };
    same.rows.push(row);
    alike.set(key, same);
  }
  for (const { rows, settlement } of alike.values()) await settle(rows, settlement);
}
