// What an operation answers, before a fault spoils it.
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** Without a body. */
export function emptyAnswer(status: number): Answer {
  return { status, headers: {}, body: Buffer.alloc(0) };
}

export function bytesAnswer(contentType: string, body: Buffer): Answer {
  return { status: 200, headers: { "content-type": contentType }, body };
}
