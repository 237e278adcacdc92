// A value in a body of a shape that the specification does not show, found where the account's configuration says.

/** The text, number, `true` or `false` at a JSON pointer (RFC 6901), as text; undefined where something else or nothing stands there. */
export function valueAt(body: unknown, pointer: string): string | undefined {
  const [first, ...tokens] = pointer.split("/");
  if (first !== "") return undefined;
  let value = body;
  for (const token of tokens) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = Array.isArray(value) ? /^(0|[1-9]\d*)$/.test(name) : isObject(value);
    if (!isThere || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
