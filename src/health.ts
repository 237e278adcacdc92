// The tiny endpoints beside a role's work: GET /health answers 200 or 503 with what the role knows, GET /metrics what it counted.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Health {
  ok: boolean;
  [detail: string]: unknown;
}

export interface Endpoint {
  url: string;
  close(): Promise<void>;
}

/** A registry of prom-client, for example. */
export interface MetricsSource {
  contentType: string;
  metrics(): Promise<string>;
}

interface Where {
  host: string;
  port: number;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

export function startHealth({ check, ...at }: Where & { check: () => Health }): Promise<Endpoint> {
  return serve(at, "/health", async () => {
    const health = check();
    return json(health.ok ? 200 : 503, health);
  });
}

export function startMetrics({
  source,
  ...at
}: Where & { source: MetricsSource }): Promise<Endpoint> {
  return serve(at, "/metrics", async () => ({
    status: 200,
    type: source.contentType,
    body: await source.metrics(),
  }));
}

async function serve(at: Where, path: string, ask: () => Promise<Answer>): Promise<Endpoint> {
  const server = createServer((request, response) => {
    const isKnown = request.method === "GET" && request.url === path;
    const unknown = json(404, { ok: false, error: `only GET ${path} is here` });
    const answer = isKnown ? ask().catch(() => json(500, { ok: false })) : Promise.resolve(unknown);
    void answer.then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type, connection: "close" });
      response.end(body);
    });
  });
  server.requestTimeout = 5_000;
  server.listen(at.port, at.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = at.host.includes(":") ? `[${at.host}]` : at.host;
  return {
    url: `http://${host}:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => undefined);
    },
  };
}

function json(status: number, body: object): Answer {
  return { status, type: "application/json", body: JSON.stringify(body) };
}
