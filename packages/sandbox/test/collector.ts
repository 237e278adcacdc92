// A local HTTP server that keeps what is posted to it and answers as told.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Collector {
  url: string;
  bodies: any[];
  headers: IncomingHttpHeaders[];
  /** The status of the next answers; the last one stays. */
  statuses: number[];
  close(): Promise<void>;
}

export async function collector(): Promise<Collector> {
  const bodies: any[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const statuses: number[] = [200];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      headers.push(request.headers);
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!;
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    bodies,
    headers,
    statuses,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
