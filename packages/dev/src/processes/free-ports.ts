// Free loopback ports, all different from each other.
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

// Below the range for outgoing connections, so that no connection takes the port between the check and its use.
const FIRST = 20_000;
const LAST = 32_000;
let next = FIRST + Math.floor(Math.random() * (LAST - FIRST));

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = next;
    next = port === LAST ? FIRST : port + 1;
    if (await isFreePort(port)) ports.push(port);
  }
  return ports;
}

export async function isFreePort(port: number): Promise<boolean> {
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

/** Whether a server listens on the port. */
export async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
