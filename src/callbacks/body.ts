// The JSON of a raw body; the byte order mark that some senders put in front is no part of it.

export function parseBody(body: Buffer): unknown {
  const text = body.toString();
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}
