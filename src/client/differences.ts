// Which members of two inputs differ: the paths, never the values.

/** Each path at which one has another value than the other, or none. A document is one member, whatever differs in it. */
export function differences(one: unknown, other: unknown, path: string[] = []): string[] {
  if (isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => differences(one[name], other[name], [...path, name]));
  }
  return Object.is(one, other) ? [] : [path.join(".") || "(input)"];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
