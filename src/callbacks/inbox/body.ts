// A raw callback body: its JSON and its identifier.
import { createHash } from "node:crypto";

// A short identifier of plain characters is used unchanged, because it is an index key.
const PLAIN_IDENTIFIER = /^[\x20-\x7e]{1,200}$/;

/** Parses the JSON; a byte order mark of some senders is skipped. */
export function parseBody(body: Buffer): unknown {
  const text = body.toString();
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}

/** A top-level string `Identifier`, else a digest of the body; undefined for what is not JSON. */
export function identify(body: Buffer | null): string | undefined {
  if (body === null) return undefined;
  let value: unknown;
  try {
    value = parseBody(body);
  } catch {
    return undefined;
  }
  const given = (value as { Identifier?: unknown } | null)?.Identifier;
  if (typeof given === "string" && PLAIN_IDENTIFIER.test(given)) return given;
  const source = typeof given === "string" && given !== "" ? given : body;
  return `sha256:${createHash("sha256").update(source).digest("hex")}`;
}
