// The provider's side of a storm: many connections at once, each callback tried until it is answered for good. Only a 2xx
// counts as acknowledged; a 503, a cut or a timeout is tried again, as P2 §6.5 says, in milliseconds instead of minutes.
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

export type PostingKind = "genuine" | "forged" | "malformed" | "oversized";

export interface Posting {
  kind: PostingKind;
  url: string;
  body: string;
  /** Process and identifier, where it must arrive. */
  key?: string;
}

export interface SenderOptions {
  connections: number;
  /** How often one posting is tried. */
  attempts?: number;
  limitMs?: number;
}

export interface Sending {
  readonly acknowledged: ReadonlySet<string>;
  /** The last answer's status by kind; 0: none came. */
  readonly answers: Record<PostingKind, Map<number, number>>;
  /** Milliseconds until the answer, of every attempt, by status. */
  readonly latencies: Map<number, number[]>;
  /** The share of the postings that are over. */
  readonly progress: number;
  /** Of the postings, only this share is sent until more is allowed. */
  allowed: number;
  readonly done: Promise<void>;
}

const MAX_PAUSE_MS = 1_000;

export function send(postings: readonly Posting[], options: SenderOptions): Sending {
  const { connections, attempts = 1_000, limitMs = 90_000 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: "fifo" });
  const acknowledged = new Set<string>();
  const answers = {
    genuine: new Map<number, number>(),
    forged: new Map<number, number>(),
    malformed: new Map<number, number>(),
    oversized: new Map<number, number>(),
  };
  const latencies = new Map<number, number[]>();
  const end = Date.now() + limitMs;
  let next = 0;
  let over = 0;
  let allowed = 1;

  const deliver = async (posting: Posting): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      const started = performance.now();
      const status = await post(agent, posting);
      const times = latencies.get(status);
      if (times) times.push(performance.now() - started);
      else latencies.set(status, [performance.now() - started]);
      const isFinal = status !== 0 && status !== 503 && status !== 408;
      if (isFinal || attempt >= attempts || Date.now() > end) return status;
      const pause = Math.min(50 * 1.5 ** attempt, MAX_PAUSE_MS);
      await delay(pause * (0.5 + Math.random()));
    }
  };
  const nextPosting = async (): Promise<Posting | undefined> => {
    while (next >= allowed * postings.length && next < postings.length) await delay(10);
    return postings[next++];
  };
  const lane = async (): Promise<void> => {
    for (let posting = await nextPosting(); posting; posting = await nextPosting()) {
      const status = await deliver(posting);
      const counts = answers[posting.kind];
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (posting.key !== undefined && status >= 200 && status < 300) acknowledged.add(posting.key);
      over += 1;
    }
  };
  const done = Promise.all(Array.from({ length: connections }, lane)).then(() => agent.destroy());
  return {
    acknowledged,
    answers,
    latencies,
    get progress() {
      return over / postings.length;
    },
    get allowed() {
      return allowed;
    },
    set allowed(share) {
      allowed = share;
    },
    done,
  };
}

/** The value below which that share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The status, or 0 where there was no answer. */
function post(agent: Agent, { url, body }: Posting): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(
      url,
      {
        agent,
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
        timeout: 15_000,
      },
      (incoming) => {
        incoming.resume();
        incoming.once("close", () => resolve(incoming.complete ? (incoming.statusCode ?? 0) : 0));
      },
    );
    outgoing.once("timeout", () => outgoing.destroy());
    outgoing.once("error", () => resolve(0));
    outgoing.end(body);
  });
}
