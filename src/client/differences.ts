// Which members of two inputs differ: the paths, never the values.

/** Their members are named by the caller, so a name may be personal data. */
const free = new Set(["providerFields", "deliveryAppearance"]);

/** Each path at which one has another value than the other, or none. A document and a free record are one member, whatever differs in them. */
export function differences(one: unknown, other: unknown, path: string[] = []): string[] {
  if (isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => {
      const found = differences(one[name], other[name], [...path, name]);
      return free.has(name) && found.length > 0 ? [[...path, name].join(".")] : found;
    });
  }
  return Object.is(one, other) ? [] : [path.join(".") || "(input)"];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
