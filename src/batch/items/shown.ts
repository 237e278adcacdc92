// How a notice of a batch is shown, in totals, reports and commands alike.
import type { BatchItem } from "./items.js";

/** A word of P2 §3.2 as a result has it. */
export function camelCase(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}

/** Returns the state, or the outcome of a closed notice, in camelCase; undefined if only its id is known. */
export function wordOf({
  state,
  outcome,
}: Pick<BatchItem, "state" | "outcome">): string | undefined {
  const word = state === "Closed" ? (outcome ?? state) : state;
  return word && camelCase(word);
}

/** Returns what a row of a report says of the notice, and where that is from. */
export function knownOf({ state, outcome, at, source }: Omit<BatchItem, "evidenceId" | "line">) {
  return {
    ...(state !== undefined && { state }),
    ...(outcome !== undefined && { outcome: camelCase(outcome) }),
    ...(at && { at: at.toISOString() }),
    source,
  };
}

/** How many notices have which state, or outcome; those of which only the id is known are left out. */
export function countByWord(
  totals: readonly { state?: string; outcome?: string; count: number }[],
): Record<string, number> {
  const states: Record<string, number> = {};
  for (const { count, ...item } of totals) {
    const word = wordOf(item);
    if (word !== undefined) states[word] = (states[word] ?? 0) + count;
  }
  return states;
}
