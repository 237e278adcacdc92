// A real HTTP server on the loopback that answers as a test says, breaks as a test says, and keeps what it was asked.
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  text: string;
}

export type Handler = (request: Received, response: ServerResponse, raw: IncomingMessage) => void;

export interface ProviderServer {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

export async function startProviderServer(handler: Handler): Promise<ProviderServer> {
  const received: Received[] = [];
  const server = createServer((raw, response) => {
    const pieces: Buffer[] = [];
    raw.on("data", (piece: Buffer) => pieces.push(piece));
    raw.on("end", () => {
      const url = new URL(raw.url ?? "/", "http://localhost");
      const request = {
        method: raw.method ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: raw.headers,
        text: Buffer.concat(pieces).toString("utf8"),
      };
      received.push(request);
      handler(request, response, raw);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A port on which nobody listens. */
export async function refusingUrl(): Promise<string> {
  const server = await startProviderServer((_, response) => response.end());
  await server.close();
  return server.url;
}
