// Rows of the inbox that a relay has claimed, their bodies, and their possible results.
import type { KeyRing } from "../../crypto/key-ring.js";
import { BoxOpener } from "../../crypto/sealed-box.js";

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

interface Place {
  address: string;
  identifier: string;
}

/** Binds a body to its row by address and identifier, so that it cannot be moved to another row. */
export function bodyContext({ address, identifier }: Place): string {
  return `callback:${address}:${identifier}`;
}

/** The receiver seals a body to a public key (arrivals.ts); relay and operators have the private key. */
export class BodyOpener {
  readonly #box: BoxOpener;

  constructor(privateRing: KeyRing) {
    this.#box = new BoxOpener(privateRing);
  }

  /** Throws if the key is missing or the body was changed. */
  open(row: Place & { sealedBody: Buffer }): Buffer {
    return this.#box.open(row.sealedBody, bodyContext(row));
  }
}

/** SQLSTATE classes 22 (data exception), 23 (constraint) and 54 (limit): the fault of a row, not of the database. */
const DATA_ERROR = /^(22|23|54)...$/;

/** How a row is parked whose data the database refuses; undefined for an error that is none of the row's. */
export function refusalOf(error: unknown): Parked | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string" || !DATA_ERROR.test(code)) return undefined;
  return { state: "parked", reason: "unreadable", detail: `the database refuses it (${code})` };
}

/** Returns both halves, the larger one first. */
export function halvesOf<T>(all: T[]): [T[], T[]] {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
}

/** Does the work for all at once; where the database refuses one, for the halves, until that one is alone: no row stops the others. */
export async function inHalves<T>(
  all: T[],
  work: (some: T[]) => Promise<void>,
  park: (refused: T, settlement: Parked) => Promise<void>,
): Promise<void> {
  const [first] = all;
  if (first === undefined) return;
  try {
    await work(all);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    if (all.length === 1) return park(first, refusal);
    for (const half of halvesOf(all)) await inHalves(half, work, park);
  }
}
