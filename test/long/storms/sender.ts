// The provider's side of a load: many connections at once, each callback tried until it is answered for good. Only a 2xx
// counts as acknowledged; a 503, a cut or a timeout is tried again, as P2 §6.5 says, in milliseconds instead of minutes.
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

export interface Posting {
  url: string;
  body: string;
  /** Process and identifier, where it must arrive. */
  key: string;
}

export interface Sending {
  readonly acknowledged: ReadonlySet<string>;
  /** The last answers. */
  readonly answers: ReadonlySet<number>;
  /** Requests that had a connection and got no answer, by their error. */
  readonly cut: readonly string[];
  done: Promise<unknown>;
}

const LIMIT_MS = 180_000;
const ANSWER_LIMIT_MS = 15_000;
// A server may close a connection that had no request for a while, and a client has to expect it (RFC 9112 §9.3.1).
const IDLE_MS = 500;

/** `pauseMs`: between two postings of a connection, and at most between two tries. */
export function send(
  postings: Iterable<Posting>,
  { connections, pauseMs = 0 }: { connections: number; pauseMs?: number },
): Sending {
  const acknowledged = new Set<string>();
  const answers = new Set<number>();
  const cut: string[] = [];
  const end = Date.now() + LIMIT_MS;
  const left = postings[Symbol.iterator]();

  const lane = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let usedAt = 0;
    const attempt = async (posting: Posting): Promise<number> => {
      const began = performance.now();
      const { status = 0, error, isReused } = await post(agent, posting);
      const isIdle = isReused && began - usedAt > IDLE_MS;
      usedAt = performance.now();
      if (error !== undefined && error !== "ECONNREFUSED" && !isIdle) cut.push(error);
      return status;
    };
    const deliver = async (posting: Posting): Promise<number> => {
      for (let tried = 1; ; tried += 1) {
        const status = await attempt(posting);
        if (![0, 408, 503].includes(status) || Date.now() > end) return status;
        await delay(Math.min(50 * 1.5 ** tried, pauseMs || 1_000) * (0.5 + Math.random()));
      }
    };
    for (;;) {
      const { value: posting, done } = left.next();
      if (done) break;
      const status = await deliver(posting);
      answers.add(status);
      if (status >= 200 && status < 300) acknowledged.add(posting.key);
      if (pauseMs > 0) await delay(pauseMs * (0.5 + Math.random()));
    }
    agent.destroy();
  };
  const done = Promise.all(Array.from({ length: connections }, lane));
  return { acknowledged, answers, cut, done };
}

/** As a provider's servers send all the time: a hundred a second and more, until it is stopped; the last ones are answered too. */
export function steadyLoad(next: () => Posting): Sending & { stop(): Promise<unknown> } {
  let isOver = false;
  const endless = (function* () {
    while (!isOver) yield next();
  })();
  const sending = send(endless, { connections: 32, pauseMs: 200 });
  const stop = () => {
    isOver = true;
    return sending.done;
  };
  return { ...sending, stop };
}

/** `isReused`: on a connection that had a request before. */
interface Answer {
  status?: number;
  error?: string;
  isReused: boolean;
}

function post(agent: Agent, { url, body }: Posting): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const options = { agent, method: "POST", headers, timeout: ANSWER_LIMIT_MS };
    const outgoing = request(url, options, (incoming) => {
      incoming.resume();
      const over = () => {
        const { complete, statusCode: status } = incoming;
        const isReused = outgoing.reusedSocket;
        resolve(complete && status ? { status, isReused } : { error: "cut short", isReused });
      };
      incoming.once("end", over).once("close", over);
    });
    outgoing.once("timeout", () => outgoing.destroy());
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve({ error: code ?? message, isReused: outgoing.reusedSocket }),
    );
    outgoing.end(body);
  });
}
