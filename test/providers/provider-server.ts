// A real HTTP or HTTPS server on the loopback that answers as a test says, breaks as a test says, and keeps what it was asked.
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach } from "vitest";

export interface Received {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
}

export type Handler = (request: Received, response: ServerResponse, raw: IncomingMessage) => void;

export interface ProviderServer {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** `cutAfterBytes`: the connection is closed once so much of a body has arrived. `tls`: HTTPS, as `localhost`. */
export async function startProviderServer(
  handler: Handler,
  { cutAfterBytes = Infinity, tls }: { cutAfterBytes?: number; tls?: ServerOptions } = {},
): Promise<ProviderServer> {
  const received: Received[] = [];
  const listener = (raw: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    let size = 0;
    raw.on("data", (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size > cutAfterBytes) response.destroy();
    });
    raw.on("end", () => {
      const url = new URL(raw.url ?? "/", "http://localhost");
      const bytes = Buffer.concat(pieces);
      const request = {
        method: raw.method ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: raw.headers,
        bytes,
        text: bytes.toString("utf8"),
      };
      received.push(request);
      handler(request, response, raw);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The files of a multipart body, by a parser that is not ours. */
export async function filesOf({ headers, bytes }: Received) {
  const type = headers["content-type"] ?? "";
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const parts = [...form].map(async ([part, file]) => {
    if (typeof file === "string") throw new Error(`${part} is no file`);
    const content = Buffer.from(await file.arrayBuffer());
    return { part, name: file.name, mediaType: file.type, content };
  });
  return Promise.all(parts);
}

/** Answers every request alike; a text goes as it is, everything else as JSON. */
export const answering =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Handler =>
  (_, response) => {
    const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, headers).end(text);
  };

/** A port without a server. */
export async function refusingUrl(): Promise<string> {
  const server = await startProviderServer((_, response) => response.end());
  await server.close();
  return server.url;
}

/** A server of its own for each test of a file. It answers so, until a test says another answer. */
export function serverOfEachTest(first: Handler = answering({})) {
  let server: ProviderServer;
  const own = {
    answer: first,
    get url() {
      return server.url;
    },
    get received() {
      return server.received;
    },
  };
  beforeEach(async () => {
    own.answer = first;
    server = await startProviderServer((...args) => own.answer(...args));
  });
  afterEach(() => server.close());
  return own;
}
