// The clock of a whole system for tests: of its processes, its database, and the providers in its sandbox.
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Duration } from "@temporalio/common";
import { msToNumber } from "@temporalio/common/lib/time.js";
import type { SandboxControl } from "trustflow-sandbox";
import { wrongArgument } from "../wrong-argument.js";
import type { DatabaseClock } from "./database-clock.js";
import type { OpenProcesses, Retry, Waits } from "./open-processes.js";
import type { TimeLine } from "./time-line.js";

/** After it Temporal's list shows what another program has started. */
const LISTED_MS = 250;
const PAUSE_MS = 15;
/** The longest real time without rest: a worker that was killed is replaced before. */
const MAX_UNREST_MS = 90_000;
/** So long a caller may need to read what has happened. */
const READING_MS = 50;
const LAST_READING_MS = 5_000;
/** So many idle polls are skipped, or those of an hour: what a poll finds may follow from the time alone, as the deadline of a batch. */
const IDLE_POLLS = 20;
const HOUR_MS = 3_600_000;

export interface ClockParts {
  timeLine: TimeLine;
  database: DatabaseClock;
  processes: OpenProcesses;
  sandbox: SandboxControl;
}

/** The last instant at which a poll may find what it did not find before: the begin of a move, an event of a provider, a task of a process. */
interface News {
  real: number;
  virtual: number;
}

/**
 * It stands still until it is moved. Then it stops at each instant at which something is due, a timer, a poll, a retry or an event of a
 * provider, and goes on when all that follows from it has happened. Polls that would find nothing are skipped.
 */
export class VirtualClock {
  readonly #parts: ClockParts;
  #providersDue = Infinity;
  #hasFaults = false;
  #news: News = { real: 0, virtual: 0 };
  #histories: unknown;
  #move: Promise<unknown> = Promise.resolve();

  constructor(parts: ClockParts) {
    this.#parts = parts;
  }

  now(): Date {
    return new Date(this.#parts.timeLine.now());
  }

  /** Moves the clock on: `"60 days"`, or milliseconds. Resolves when all that was due has happened, and returns the time. */
  async advance(span: Duration): Promise<Date> {
    const ms = millisecondsOf(span);
    return this.#alone(async () => {
      const end = this.#parts.timeLine.now() + ms;
      for (;;) {
        const waits = await this.#rest();
        const due = this.#next(waits);
        if (due > end) break;
        await this.#stopAt(due, waits);
      }
      await this.#moveTo(end);
      return this.now();
    });
  }

  /** Moves the clock on until the promise is settled, and returns what it gives: `runUntil(letter.result())`. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    if (typeof (work as Partial<Promise<T>> | undefined)?.then !== "function")
      throw wrongArgument("work", "must be a promise, such as that of result()");
    let isSettled = false;
    const settled = work.then(
      () => void (isSettled = true),
      () => void (isSettled = true),
    );
    return this.#alone(async () => {
      let before: Waits[] = [];
      while (!isSettled) {
        const waits = await this.#rest();
        const due = this.#next(waits);
        const isOver = due === Infinity || waits.length < before.length;
        const hasNews = !isDeepStrictEqual(historiesOf(waits), historiesOf(before));
        const readingMs = isOver ? LAST_READING_MS : hasNews ? READING_MS : 0;
        await Promise.race([settled, delay(readingMs, undefined, { ref: false })]);
        if (isSettled) break;
        if (due === Infinity)
          throw new Error("nothing is due any more: what was waited for needs a person or a call");
        before = waits;
        await this.#stopAt(due, waits);
      }
      return work;
    });
  }

  /** One movement after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const move = this.#move.then(async () => {
      await delay(LISTED_MS);
      await this.#parts.processes.find();
      this.#noteNews();
      return work();
    });
    this.#move = move.catch(() => undefined);
    return move;
  }

  /**
   * Waits until nothing happens any more by itself; returns what the open processes wait for. They are looked at before and after the
   * providers and the relay: what is on the way from these changes a process.
   */
  async #rest(): Promise<Waits[]> {
    const { processes } = this.#parts;
    const limit = performance.now() + MAX_UNREST_MS;
    for (;;) {
      const waits = await processes.waits();
      const busy = waits.filter(({ isBusy }) => isBusy).map(({ workflowId }) => workflowId);
      if (
        busy.length === 0 &&
        !(await this.#isOnTheWay()) &&
        isDeepStrictEqual(waits, await processes.waits())
      ) {
        const histories = historiesOf(waits);
        if (!isDeepStrictEqual(histories, this.#histories)) this.#noteNews();
        this.#histories = histories;
        return waits;
      }
      if (performance.now() > limit)
        throw new Error(`the virtual clock waits in vain for ${busy.join(", ") || "callbacks"}`);
      await delay(PAUSE_MS);
    }
  }

  /** Whether a provider acts at this instant, or the relay has callbacks to deliver. */
  async #isOnTheWay(): Promise<boolean> {
    return (await this.#moveSandbox(0)) || this.#parts.database.hasCallbacks();
  }

  #next(waits: Waits[]): number {
    const retries = waits.flatMap((each) => each.retries);
    const own = [...waits.flatMap(({ timers }) => timers), ...retries.map(this.#dueOf)];
    return Math.min(...own, this.#providersDue);
  }

  /** An idle poll keeps its hours: it is made again after news, or when enough of them are skipped, or before its activity's time is over. */
  readonly #dueOf = ({ due, idle }: Retry): number => {
    if (!idle || this.#hasFaults) return due;
    const { intervalMs, madeAt, limit } = idle;
    const { real, virtual } = this.#news;
    const skipped =
      madeAt > real
        ? Math.floor(Math.min(limit - due, Math.max(IDLE_POLLS * intervalMs, HOUR_MS)) / intervalMs)
        : Math.ceil((virtual - due) / intervalMs);
    return due + Math.max(0, skipped) * intervalMs;
  };

  #noteNews(): void {
    this.#news = { real: Date.now(), virtual: this.#parts.timeLine.now() };
  }

  /** The providers come first: a poll reads what they have done at that instant. */
  async #stopAt(due: number, waits: Waits[]): Promise<void> {
    const { processes, timeLine } = this.#parts;
    const haveActed = await this.#moveTo(due);
    const present = haveActed ? await this.#rest() : waits;
    for (const each of present) await processes.wake(each, timeLine.now(), this.#dueOf);
  }

  /** An instant that is over counts as now. */
  async #moveTo(instant: number): Promise<boolean> {
    const { timeLine, database } = this.#parts;
    const before = timeLine.now();
    const to = Math.max(instant, before);
    timeLine.step(to);
    await database.step(to);
    return this.#moveSandbox(to - before);
  }

  /** Returns whether a provider has acted. */
  async #moveSandbox(ms: number): Promise<boolean> {
    const { ran, next, hasFaults } = await this.#parts.sandbox.advance(ms);
    this.#hasFaults = hasFaults;
    this.#providersDue = next === undefined ? Infinity : Date.parse(next);
    if (ran > 0) this.#noteNews();
    return ran > 0;
  }
}

function millisecondsOf(span: Duration): number {
  try {
    const ms = Math.round(msToNumber(span));
    if (ms >= 0 && ms < Infinity) return ms;
  } catch {
    // It is no span of time at all.
  }
  throw wrongArgument("span", 'must be milliseconds, 0 or more, or a text such as "60 days"');
}

function historiesOf(waits: Waits[]) {
  return waits.map(({ workflowId, historyLength }) => [workflowId, historyLength]);
}
