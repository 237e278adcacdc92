// Free loopback ports, all different from each other, and from those that other processes of ours were given.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer } from "node:net";

// Below the range for outgoing connections, so that no connection takes the port between the check and its use.
const FIRST = 20_000;
const LAST = 32_000;
let next = FIRST + Math.floor(Math.random() * (LAST - FIRST));

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = next;
    next = port === LAST ? FIRST : port + 1;
    if ((await isFreePort(port)) && (await reservePort(port))) ports.push(port);
  }
  return ports;
}

/**
 * Keeps a port from the `freePorts` of other processes as long as this process lives, before anything listens on it: its UDP port of
 * the same number is bound. False where another one has it.
 */
export async function reservePort(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.unref();
  try {
    const bound = once(socket, "listening");
    socket.bind({ address: "127.0.0.1", port, exclusive: true });
    await bound;
    return true;
  } catch {
    socket.close();
    return false;
  }
}

export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    server.close();
    await once(server, "close");
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
