// RFC 8785: one text for one JSON value, whatever the order of its keys, so that it can be hashed.
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

// The package is CommonJS and exports the function itself; its types declare an ES module's default export.
const serialize = canonicalize as unknown as typeof canonicalize.default;

export function canonicalJson(value: unknown): string {
  const text = serialize(value);
  if (text === undefined) throw new TypeError("the value cannot be written as JSON");
  return text;
}

/** Hex SHA-256, for what holds no secret: a keyed digest would hide it better. */
export function jsonDigest(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
