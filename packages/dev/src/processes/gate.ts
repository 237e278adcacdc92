// A TCP proxy that can be shut: what its clients send is then held back. A worker that is killed behind a shut gate has committed its work
// to the database, and Temporal has not heard of it.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

const HOST = "127.0.0.1";

export interface Gate {
  readonly address: string;
  shut(): void;
  /** Drops the connections that were shut, with all that they hold back, and lets new ones through. */
  open(): void;
  close(): void;
}

export async function openGate(port: number): Promise<Gate> {
  const pairs = new Map<Socket, Socket>();
  let isShut = false;
  const drop = (client: Socket): void => {
    client.destroy();
    pairs.get(client)?.destroy();
    pairs.delete(client);
  };
  const server = createServer((client) => {
    const upstream = connect(port, HOST);
    pairs.set(client, upstream);
    upstream.pipe(client);
    if (isShut) client.pause();
    else client.pipe(upstream);
    for (const socket of [client, upstream]) {
      socket.setNoDelay();
      socket.on("error", () => drop(client));
      socket.on("close", () => drop(client));
    }
  });
  server.listen(0, HOST);
  await once(server, "listening");
  return {
    address: `${HOST}:${(server.address() as AddressInfo).port}`,
    shut() {
      isShut = true;
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        client.pause();
      }
    },
    open() {
      isShut = false;
      for (const client of [...pairs.keys()]) drop(client);
    },
    close() {
      server.close();
      for (const client of [...pairs.keys()]) drop(client);
    },
  };
}
