// Makes one HTTP request of a webhook: no redirect is followed, and nothing of the answer is kept but its status and when to come again.
import { request as requestInClear } from "node:http";
import { request } from "node:https";
import type { LookupFunction } from "node:net";
import { retryAfterMs } from "../contracts/shared/retry-after.js";
import { lookupFor, PrivateAddress } from "./public-address.js";

const TIMEOUT_MS = 15_000;
/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 16_384;

export interface Posted {
  /** Absent where none came. */
  status?: number;
  /** Why none came: the code of the error, `timeout`, `closed` or `privateAddress`. */
  problem?: string;
  /** With `privateAddress`: the host, with its addresses where it is a name. */
  refused?: string;
}

/** `retryAfterMs`: how long a 429 or a 503 says to wait. */
export type Answered = Posted & { retryAfterMs?: number };

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  allowPrivate: boolean;
  timeoutMs?: number;
}

/** Never rejects. */
export function post({
  url,
  headers,
  body,
  allowPrivate,
  timeoutMs = TIMEOUT_MS,
}: Post): Promise<Answered> {
  return new Promise((resolve) => {
    const target = new URL(url);
    let lookup: LookupFunction;
    try {
      lookup = lookupFor({ url, allowPrivate });
    } catch (error) {
      return resolve(problemOf(error as PrivateAddress));
    }
    const end = AbortSignal.timeout(timeoutMs);
    const send = target.protocol === "https:" ? request : requestInClear;
    const sent = send(target, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "Trustflow-Webhooks",
      },
      // A connection of its own: the next one may have to go to another address.
      agent: false,
      signal: end,
      lookup,
    });
    // An answer that does not end, or is too long, has its status all the same.
    let status: number | undefined;
    sent.on("error", (error: Error & { code?: string }) => {
      const problem = end.aborted ? { problem: "timeout" } : problemOf(error);
      resolve(status === undefined ? problem : { status });
    });
    sent.on("response", (answer) => {
      const came = (status = answer.statusCode ?? 0);
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) answer.destroy();
      });
      answer.on("error", () => undefined);
      const wait = came === 429 || came === 503 ? retryAfterMs(answer.headers) : undefined;
      const again = wait === undefined ? {} : { retryAfterMs: wait };
      answer.on("close", () => resolve({ status: came, ...again }));
    });
    // Without a listener Node closes the connection of an answer 101, and says nothing more than that.
    sent.on("upgrade", (answer, socket) => {
      status = answer.statusCode;
      socket.destroy();
    });
    sent.on("close", () => resolve(status === undefined ? { problem: "closed" } : { status }));
    sent.end(body);
  });
}

function problemOf(error: Error & { code?: string }): Posted {
  const { code: problem = error.name } = error;
  return error instanceof PrivateAddress ? { problem, refused: error.refused } : { problem };
}
