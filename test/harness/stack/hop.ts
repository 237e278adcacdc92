// Ends TLS as Temporal's frontend does, and passes on to the dev server, which knows none.
import { once } from "node:events";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:tls";
import type { TlsOptions } from "node:tls";

export interface TlsHop {
  address: string;
  /** Breaks every connection, and takes no new one. */
  close(): void;
}

export async function startTlsHop(temporalAddress: string, options: TlsOptions): Promise<TlsHop> {
  const [host = "", port = ""] = temporalAddress.split(":");
  const open = new Set<Socket>();
  const server = createServer({ ...options, ALPNProtocols: ["h2"] }, (socket) => {
    const onwards = connect(Number(port), host);
    for (const end of [socket, onwards]) {
      open.add(end);
      end.on("error", () => undefined);
      end.on("close", () => {
        open.delete(end);
        socket.destroy();
        onwards.destroy();
      });
    }
    socket.pipe(onwards).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
