// Assigns callbacks to an account's address to processes: the reference in the body names the process, once the answer that
// showed the reference is stored (docs/reading-the-specification.md §6). An unknown reference may become known shortly, so
// its row waits, separately from other rows, before it is parked.
import { read } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import { settleRows } from "../inbox/rows.js";
import type { Referred, Settlement, UnaddressedRow } from "../inbox/rows.js";

export interface AddressingTools extends Reader {
  /** Assigns rows to the process of their reference; returns the ids of the rows whose reference is known. */
  address(referred: Referred[]): Promise<Set<string>>;
  settle(rows: UnaddressedRow[], settlement: Settlement): Promise<void>;
  /** How long a reference may stay unknown. */
  unmatchedMs: number;
}

const FIRST_PAUSE_MS = 500;
// What an id may be; PostgreSQL has no text with a NUL in it.
const REFERENCE = /^[^\0]{1,500}$/s;

export async function addressRows(rows: UnaddressedRow[], tools: AddressingTools): Promise<void> {
  if (rows.length === 0) return;
  const referred: Referred[] = [];
  const verdicts: { row: UnaddressedRow; settlement: Settlement }[] = [];
  for (const row of rows) {
    const said = read(row, tools);
    if ("state" in said) verdicts.push({ row, settlement: said });
    else if (said.reference !== undefined && REFERENCE.test(said.reference))
      referred.push({ row, reference: said.reference });
    else verdicts.push({ row, settlement: withoutReference });
  }
  const known = await tools.address(referred);
  for (const { row } of referred) {
    if (known.has(row.id)) continue;
    verdicts.push({ row, settlement: unmatched(row.attempts, tools.unmatchedMs) });
  }
  await settleRows(verdicts, tools.settle);
}

const withoutReference: Settlement = {
  state: "parked",
  reason: "unreadable",
  detail: "the body has no reference",
};

/** After each try, a pause as long as all pauses before it together; the last one ends at `totalMs`. */
function unmatched(attempts: number, totalMs: number): Settlement {
  const restedMs = FIRST_PAUSE_MS * (2 ** (attempts - 1) - 1);
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), totalMs - restedMs);
  return pauseMs > 0 ? { state: "waiting", pauseMs } : { state: "parked", reason: "unmatched" };
}
