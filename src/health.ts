// A tiny health endpoint for the roles that listen nowhere else: GET /health answers 200 or 503 with what the role knows.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Health {
  ok: boolean;
  [detail: string]: unknown;
}

export interface HealthServer {
  url: string;
  close(): Promise<void>;
}

export async function startHealth(options: {
  host: string;
  port: number;
  check: () => Health;
}): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const known = request.method === "GET" && request.url === "/health";
    const health = known ? options.check() : { ok: false, error: "only GET /health is here" };
    const status = !known ? 404 : health.ok ? 200 : 503;
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(health));
  });
  server.requestTimeout = 5_000;
  server.listen(options.port, options.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => undefined);
    },
  };
}
