// How fast the notices of a batch are read: so many calls a second of one account, and few at a time. The worker's own limit counts
// activities, and one activity reads all notices.
import { cancellationSignal } from "@temporalio/activity";
import pLimit from "p-limit";
import { setTimeout as delay } from "node:timers/promises";

const SIDE_BY_SIDE = 8;

/** A token bucket that holds the tokens of one second. */
export class Pace {
  readonly #gapMs: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  /** When the next call may begin. */
  #next = -Infinity;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#gapMs = 1_000 / perSecond;
    this.#burstMs = 1_000 - this.#gapMs;
    this.#now = now;
  }

  /** For how long the caller has to wait. */
  take(): number {
    const now = this.#now();
    const at = Math.max(this.#next, now - this.#burstMs);
    this.#next = at + this.#gapMs;
    return Math.max(0, at - now);
  }

  /** Calls `work` for each item; the first error ends the wait, and begins no further one. */
  async all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const limit = pLimit(SIDE_BY_SIDE);
    const signal = cancellationSignal();
    const paced = async (item: T) => {
      const waitMs = this.take();
      if (waitMs > 0) await delay(waitMs, undefined, { signal });
      return work(item);
    };
    try {
      return await Promise.all(items.map((item) => limit(paced, item)));
    } finally {
      limit.clearQueue();
    }
  }
}
