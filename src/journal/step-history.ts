// Reads the results of earlier runs of a process for a step whose occurrences are separate effects.
import type { Sealer } from "../crypto/data-key.js";
import { openRowAnswer } from "./answers.js";
import { effectOf, mayExist } from "./row.js";
import type { Row } from "./row.js";

export interface PriorOccurrence {
  occurrence: string;
  isAnswered: boolean;
  /** In doubt: those before it that are in doubt too. */
  before?: string[];
  /** Opened only where it is read, since its key may be gone; throws then. */
  answer?: unknown;
}

export interface StepHistory {
  /** The latest answered occurrence, else the one still in doubt. A new run must not add another. */
  standing?: PriorOccurrence;
  /** The number of occurrences that may have had their effect. */
  made: number;
  refused: number;
}

export async function stepHistoryOf(
  rows: Row[],
  findSealer: () => Promise<Sealer>,
): Promise<StepHistory> {
  const standing = await priorOccurrenceIn(rows, findSealer);
  return {
    ...(standing && { standing }),
    made: rows.filter(mayExist).length,
    refused: rows.filter(({ state }) => state === "refused").length,
  };
}

async function priorOccurrenceIn(
  rows: Row[],
  findSealer: () => Promise<Sealer>,
): Promise<PriorOccurrence | undefined> {
  const answered = rows.findLast(({ state }) => state === "answered");
  if (answered) {
    const sealer = await findSealer().catch((error: unknown) => ({ error }));
    const open = () => {
      if ("error" in sealer) throw sealer.error;
      return openRowAnswer(sealer, answered);
    };
    return {
      occurrence: answered.occurrence,
      isAnswered: true,
      get answer() {
        return open();
      },
    };
  }
  const inDoubt = rows.filter((row) => effectOf(row) === "unknown" && row.nextOccurrence === null);
  const before = inDoubt.map(({ occurrence }) => occurrence);
  const occurrence = before.pop();
  if (occurrence === undefined) return undefined;
  return { occurrence, isAnswered: false, ...(before.length > 0 && { before }) };
}
