// "Did you mean …?": finds the known name that is nearest to a mistyped one.

/** Returns undefined if no name is near. */
export function nearestOf(given: string, known: readonly string[]): string | undefined {
  const text = given.toLowerCase();
  const ranked = known
    .map((name) => ({ name, steps: editsBetween(text, name.toLowerCase()) }))
    .toSorted((one, other) => one.steps - other.steps);
  const [best] = ranked;
  return best && best.steps <= Math.max(1, text.length / 3) ? best.name : undefined;
}

/** `did you mean x (known: x, y, z)?`, and only what is known where nothing is near. */
export function suggestionFor(given: string, known: readonly string[]): string {
  const nearest = nearestOf(given, known);
  const all = `known: ${known.join(", ")}`;
  return nearest === undefined ? all : `did you mean ${nearest} (${all})?`;
}

/** Letters to add, to take away or to replace (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(one).entries()) {
    const next = [index + 1];
    for (const [at, wanted] of Array.from(other).entries()) {
      const replaced = (row[at] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
