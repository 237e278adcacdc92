// The lookup key of our own that each recipient of a batch has: it names the line, so that a notice, a callback and a recipient are
// known to be the same one (P2 §2.9, §4.2; docs/reading-the-specification.md §1).

/** `tag`: 12 hex digits, one for each batch. `line`: in the caller's list, from 1. */
export function ownKey(tag: string, line: number): string {
  return `${tag}-${line.toString(36)}`;
}

/** The line that our own key names; undefined where `lookupKey` has no key of this batch. */
export function lineOfOwnKey(lookupKey: string | undefined, tag: string): number | undefined {
  const digits = ownKeyIn(tag).exec(lookupKey ?? "")?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 36);
}

/** The caller's key alone; undefined where there is none. */
export function withoutOwnKey(lookupKey: string | undefined, tag: string): string | undefined {
  const match = ownKeyIn(tag).exec(lookupKey ?? "");
  if (!match) return lookupKey || undefined;
  const after = match.input.slice(match.index + match[0].length);
  return match.index === 0
    ? after.slice(2) || undefined
    : match.input.slice(0, match.index) + after;
}

/** Several keys are joined with `::`. */
function ownKeyIn(tag: string): RegExp {
  return new RegExp(`(?:^|::)${tag}-([0-9a-z]{1,7})(?=$|::)`);
}
