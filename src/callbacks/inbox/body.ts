// A raw body: its JSON and what it is known by.
import { createHash } from "node:crypto";

// A shorter identifier of plain characters is taken as it is; it stands in an index.
const PLAIN_IDENTIFIER = /^[\x20-\x7e]{1,200}$/;

/** The JSON; the byte order mark that some senders put in front is no part of it. */
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
