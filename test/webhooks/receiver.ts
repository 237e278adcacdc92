// A receiver of webhooks as an application has one: it verifies each request with the library of Standard Webhooks.
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

export interface Heard {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface Receiver {
  url: string;
  /** Each request that came, in its order. */
  heard: Heard[];
  /** What it answers from now on; with 0 nothing. */
  answer(status: number, headers?: Record<string, string>): void;
  close(): Promise<void>;
}

/** A request that is not signed with the secret is answered 401, and not heard. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const heard: Heard[] = [];
  let answer: [number, Record<string, string>] = [204, {}];
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    try {
      const told = webhook.verify(body, request.headers as Record<string, string>) as Heard;
      heard.push({ ...told, id: String(request.headers["webhook-id"]) });
      if (answer[0] > 0) response.writeHead(...answer).end();
    } catch {
      response.writeHead(401).end();
    }
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?tenant=a`,
    heard,
    answer: (status, headers = {}) => void (answer = [status, headers]),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
