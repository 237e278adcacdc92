// A steady load: some hundred callbacks a second, each lane on a connection of its own, as a provider's servers have them.
// Whatever is not acknowledged is sent again.
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Posting } from "../storms/sender.js";

export interface SteadyLoad {
  readonly acknowledged: ReadonlySet<string>;
  /** How often each status came. */
  readonly answers: ReadonlyMap<number, number>;
  /** Requests that had a connection and got no answer, by their error. */
  readonly cut: readonly string[];
  /** The last ones are answered too. */
  stop(): Promise<void>;
}

const LANES = 32;
const PAUSE_MS = 70;
const MAX_WAIT_MS = 30_000;
// A server may close a connection that had no request for a while, and a client has to expect it (RFC 9112 §9.3.1).
const IDLE_MS = 500;

export function steadyLoad(next: () => Posting): SteadyLoad {
  const acknowledged = new Set<string>();
  const answers = new Map<number, number>();
  const cut: string[] = [];
  let isOver = false;

  const lane = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let usedAt = 0;
    while (!isOver) {
      const posting = next();
      for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await delay(PAUSE_MS)) {
        const idleMs = performance.now() - usedAt;
        const { status, error, isReused } = await post(agent, posting);
        usedAt = performance.now();
        if (status !== undefined) answers.set(status, (answers.get(status) ?? 0) + 1);
        if (error !== undefined && error !== "ECONNREFUSED" && !(isReused && idleMs > IDLE_MS))
          cut.push(error);
        if (status !== 204) continue;
        acknowledged.add(posting.key ?? "");
        break;
      }
      await delay(PAUSE_MS * (0.5 + Math.random()));
    }
    agent.destroy();
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  return {
    acknowledged,
    answers,
    cut,
    async stop() {
      isOver = true;
      await lanes;
    },
  };
}

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
    const outgoing = request(url, { agent, method: "POST", headers }, (incoming) => {
      incoming.resume();
      incoming.once("close", () => {
        const { complete, statusCode: status } = incoming;
        const isReused = outgoing.reusedSocket;
        resolve(complete && status ? { status, isReused } : { error: "cut short", isReused });
      });
    });
    outgoing.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve({ error: code ?? message, isReused: outgoing.reusedSocket }),
    );
    outgoing.end(body);
  });
}
