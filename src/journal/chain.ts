// The rows of one effect: its own, those that a person's decision to send again left behind, and those that it opened.
import type { Effect } from "./effect.js";
import type { Row } from "./rows.js";

/** `rows` are those of the step in the order they were made; other occurrences may be effects of their own. */
export function chainOf(rows: Row[], occurrence: string): Row[] {
  const chain = rows.filter((row) => row.occurrence === occurrence);
  for (const row of rows.toReversed())
    if (row.nextOccurrence === chain[0]?.occurrence) chain.unshift(row);
  for (const row of rows) if (row.occurrence === chain.at(-1)?.nextOccurrence) chain.push(row);
  return chain;
}

export function hasOtherInput(effect: Effect, { digest }: Row): boolean {
  return digest !== null && !effect.sameDigest(digest);
}
