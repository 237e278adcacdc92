// Which members of two inputs differ: the paths, never the values.

const free = new Set(["providerFields", "deliveryAppearance"]);

/** Whether the members of this member are named by the caller, and pass unchanged: a name may be personal data. */
export const isFree = (name: string): boolean => free.has(name);

/** Each path at which one has another value than the other, or none. A document and a free record are one member, whatever differs in them. */
export function differences(one: unknown, other: unknown, path: string[] = []): string[] {
  if (isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => {
      const found = differences(one[name], other[name], [...path, name]);
      return isFree(name) && found.length > 0 ? [[...path, name].join(".")] : found;
    });
  }
  return Object.is(one, other) ? [] : [path.join(".") || "(input)"];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
