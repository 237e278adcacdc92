// Rows whose data the database refuses: they are halved until the refused one is alone, so that no row stops the others.
import type { Parked } from "../inbox/rows.js";

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

/** Does the work for all at once; where the database refuses one, for the halves. */
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
