// Senders that are slow, or never come to an end: raw connections, a few bytes at a time.
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface SlowSender {
  /** The status line's number, or 0 where the connection was only cut. */
  readonly answer: Promise<number>;
  destroy(): void;
}

/** Says how long the body is, and sends `share` of it within `spanMs`; then nothing more. */
export function sendSlowly(url: string, body: string, share: number, spanMs: number): SlowSender {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answer = new Promise<number>((resolve) => {
    socket.once("data", (data) => resolve(Number(data.toString("latin1", 9, 12))));
    socket.once("close", () => resolve(0));
  });
  socket.on("error", () => undefined);
  const write = async (): Promise<void> => {
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    const text = body.slice(0, Math.ceil(body.length * share));
    const piece = Math.ceil(text.length / 10);
    for (let at = 0; at < text.length && !socket.destroyed; at += piece) {
      socket.write(text.slice(at, at + piece));
      await delay(spanMs / 10);
    }
  };
  void write();
  return { answer, destroy: () => socket.destroy() };
}
