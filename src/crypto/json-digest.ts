// RFC 8785: one text for one JSON value, whatever the order of its keys, so that it can be hashed.
import canonicalize from "canonicalize";

// The package is CommonJS and exports the function itself; its types declare an ES module's default export.
const serialize = canonicalize as unknown as typeof canonicalize.default;

export function canonicalJson(value: unknown): string {
  const text = serialize(value);
  if (text === undefined) throw new TypeError("the value cannot be written as JSON");
  return text;
}
