// The provider's side of a load: many connections at once, each callback tried until it is answered for good. Only a 2xx
// counts as acknowledged; a 503, a cut or a timeout is tried again, as P2 §6.5 says, in milliseconds instead of minutes.
import { Agent, request, type ClientRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

export type PostingKind = "genuine" | "forged" | "malformed" | "oversized";

export interface Posting {
  kind: PostingKind;
  url: string;
  body: string;
  /** Process and identifier, where it must arrive. */
  key?: string;
}

export interface Sending {
  readonly acknowledged: ReadonlySet<string>;
  /** How often each status was the last answer, by kind; 0: none came. */
  readonly answers: Record<PostingKind, Record<number, number>>;
  /** Milliseconds until the answer, of every attempt, by status. */
  readonly latencies: Map<number, number[]>;
  /** Requests that had a connection and got no answer, by their error. */
  readonly cut: readonly string[];
  /** How many postings are over. */
  over: number;
  /** Only so many postings are sent until more are allowed. */
  allowed: number;
  done: Promise<unknown>;
}

const ANSWER_LIMIT_MS = 15_000;
// A server may close a connection that had no request for a while, and a client has to expect it (RFC 9112 §9.3.1).
const IDLE_MS = 500;

/** `attempts`: how often one posting is tried; `pauseMs`: between two postings of a connection, and at most between two tries. */
export function send(
  postings: Iterable<Posting>,
  {
    connections,
    attempts = 1_000,
    limitMs = 90_000,
    pauseMs = 0,
  }: {
    connections: number;
    attempts?: number;
    limitMs?: number;
    pauseMs?: number;
  },
): Sending {
  const acknowledged = new Set<string>();
  const cut: string[] = [];
  const answers: Sending["answers"] = { genuine: {}, forged: {}, malformed: {}, oversized: {} };
  const latencies: Sending["latencies"] = new Map();
  const end = Date.now() + limitMs;
  const left = postings[Symbol.iterator]();
  let taken = 0;

  const lane = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let usedAt = 0;
    const attempt = async (posting: Posting): Promise<number> => {
      const began = performance.now();
      const { status = 0, error, isReused } = await post(agent, posting);
      const isIdle = isReused && began - usedAt > IDLE_MS;
      usedAt = performance.now();
      if (!latencies.has(status)) latencies.set(status, []);
      latencies.get(status)?.push(usedAt - began);
      if (error !== undefined && error !== "ECONNREFUSED" && !isIdle) cut.push(error);
      return status;
    };
    const deliver = async (posting: Posting): Promise<number> => {
      for (let tried = 1; ; tried += 1) {
        const status = await attempt(posting);
        const isFinal = ![0, 408, 503].includes(status);
        if (isFinal || tried >= attempts || Date.now() > end) return status;
        await delay(Math.min(50 * 1.5 ** tried, pauseMs || 1_000) * (0.5 + Math.random()));
      }
    };
    for (;;) {
      while (taken >= sending.allowed) await delay(10);
      taken += 1;
      const { value: posting, done } = left.next();
      if (done) break;
      const status = await deliver(posting);
      const counts = answers[posting.kind];
      counts[status] = (counts[status] ?? 0) + 1;
      if (posting.key !== undefined && status >= 200 && status < 300) acknowledged.add(posting.key);
      sending.over += 1;
      if (pauseMs > 0) await delay(pauseMs * (0.5 + Math.random()));
    }
    agent.destroy();
  };
  const none = { over: 0, allowed: Infinity, done: Promise.resolve() };
  const sending: Sending = { acknowledged, answers, latencies, cut, ...none };
  return Object.assign(sending, { done: Promise.all(Array.from({ length: connections }, lane)) });
}

/** As a provider's servers send all the time: some hundred a second, until it is stopped; the last ones are answered too. */
export function steadyLoad(next: () => Posting): Sending & { stop(): Promise<unknown> } {
  let isOver = false;
  const endless = (function* () {
    while (!isOver) yield next();
  })();
  const sending = send(endless, { connections: 32, limitMs: 180_000, pauseMs: 70 });
  const stop = () => {
    isOver = true;
    return sending.done;
  };
  return Object.assign(sending, { stop });
}

/** The value below which that share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** That share of the body, a few bytes at a time, then nothing more. The status, or 0 where the connection was only cut. */
export async function sendSlowly(posting: Posting, share: number): Promise<number> {
  const agent = new Agent();
  const text = posting.body.slice(0, Math.ceil(posting.body.length * share));
  const piece = Math.ceil(text.length / 10);
  const write = async (outgoing: ClientRequest): Promise<void> => {
    for (let at = 0; at < text.length && !outgoing.destroyed; at += piece) {
      outgoing.write(text.slice(at, at + piece));
      await delay(200);
    }
  };
  const { status = 0 } = await post(agent, posting, { timeout: 0, write });
  agent.destroy();
  return status;
}

/** `isReused`: on a connection that had a request before. */
interface Answer {
  status?: number;
  error?: string;
  isReused: boolean;
}

function post(
  agent: Agent,
  { url, body }: Posting,
  {
    timeout = ANSWER_LIMIT_MS,
    write = (outgoing: ClientRequest): unknown => outgoing.end(body),
  } = {},
): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const outgoing = request(url, { agent, method: "POST", headers, timeout }, (incoming) => {
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
    write(outgoing);
  });
}
