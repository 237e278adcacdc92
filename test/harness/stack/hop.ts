// A hop in front of servers: ends TLS as Temporal's frontend does, spreads connections over several servers, or breaks them.
import { once } from "node:events";
import { connect, createServer as createTcpServer } from "node:net";
import type { Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TlsOptions } from "node:tls";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";

export interface Hop {
  address: string;
  /** Breaks every connection, and takes new ones. */
  cut(): void;
  /** Passes nothing on any more, and closes no connection. */
  hold(): void;
  /** Breaks every connection, and takes no new one. */
  close(): void;
  /** After a close: takes new ones again, at the same address. */
  reopen(): Promise<void>;
}

/** Each connection goes to one of the addresses that takes it, in turn. */
export async function startHop(addresses: string[], tls?: TlsOptions): Promise<Hop> {
  const open = new Set<Socket>();
  let turn = 0;
  const onConnection = (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    turn += 1;
    void connectToAny(addresses.map((_, index) => addresses[(index + turn) % addresses.length]!))
      .then((onwards) => {
        open.add(onwards);
        onwards.on("close", () => {
          open.delete(onwards);
          socket.destroy();
        });
        socket.on("close", () => onwards.destroy());
        if (socket.destroyed) onwards.destroy();
        else socket.pipe(onwards).pipe(socket);
      })
      .catch(() => socket.destroy());
  };
  const server = tls
    ? createTlsServer({ ...tls, ALPNProtocols: ["h2"] }, onConnection)
    : createTcpServer(onConnection);
  // No other server takes it while the hop is closed.
  const [port = 0] = await freePorts(1);
  const listen = async () => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await listen();
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    address: `127.0.0.1:${port}`,
    cut,
    hold() {
      for (const socket of open) socket.unpipe();
    },
    close() {
      server.close();
      cut();
    },
    reopen: listen,
  };
}

/** Throws where none of them takes it. */
async function connectToAny([address = "", ...others]: string[]): Promise<Socket> {
  const [host = "", port = ""] = address.split(":");
  const onwards = connect(Number(port), host);
  try {
    await once(onwards, "connect");
    return onwards.on("error", () => undefined);
  } catch (error) {
    if (others.length === 0) throw error;
    return connectToAny(others);
  }
}
