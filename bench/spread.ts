// Medians and ratios over rounds. A round measures both sides one after the other, so its ratio is what they share a moment in.

export interface Spread {
  median: number;
  min: number;
  max: number;
  rounds: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError("no rounds");
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
  return { median, min: sorted[0] as number, max: sorted.at(-1) as number, rounds: sorted.length };
}

export function quantile(values: readonly number[], of: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? Number.NaN;
}

/** Of each round's two values. */
export function ratioSpread(rounds: readonly { floor: number; trustflow: number }[]): Spread {
  return spreadOf(rounds.map(({ floor, trustflow }) => trustflow / floor));
}

/** The sum of each part over rounds, divided by their number. */
export function meanParts(rounds: readonly Record<string, number>[]): Record<string, number> {
  const names = Object.keys(rounds[0] ?? {});
  const mean = (name: string) =>
    rounds.reduce((sum, parts) => sum + (parts[name] ?? 0), 0) / rounds.length;
  return Object.fromEntries(names.map((name) => [name, mean(name)]));
}

/** What each of `number` has added to each part. */
export function perEach(
  before: Record<string, number>,
  after: Record<string, number>,
  number: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([part, value]) => [part, (value - (before[part] ?? 0)) / number]),
  );
}
