// The clock of a whole system for tests: of its processes, its database, and the providers in its sandbox.
import { setTimeout as delay } from "node:timers/promises";
import type { Duration } from "@temporalio/common";
import { msToNumber } from "@temporalio/common/lib/time.js";
import type { SandboxControl } from "trustflow-sandbox";
import type { DatabaseClock } from "./database-clock.js";
import type { OpenProcesses, Waits } from "./open-processes.js";
import type { TimeLine } from "./time-line.js";

/** After it Temporal's list shows what another program has started. */
const LISTED_MS = 250;
const PAUSE_MS = 5;
/** The longest real time without rest: a worker that was killed is replaced before. */
const MAX_UNREST_MS = 90_000;
/** So long a caller may need to read what has happened. */
const READING_MS = 50;
const LAST_READING_MS = 5_000;

export interface ClockParts {
  timeLine: TimeLine;
  database: DatabaseClock;
  processes: OpenProcesses;
  sandbox: SandboxControl;
}

/**
 * It stands still until it is moved. Then it stops at each instant at which something is due, a timer, a poll, a retry or an event of a
 * provider, and goes on when all that follows from it has happened.
 */
export class VirtualClock {
  readonly #parts: ClockParts;
  #move: Promise<unknown> = Promise.resolve();

  constructor(parts: ClockParts) {
    this.#parts = parts;
  }

  now(): Date {
    return new Date(this.#parts.timeLine.now());
  }

  /** Moves the clock on: `"60 days"`, or milliseconds. Resolves when all that was due has happened, and returns the time. */
  advance(span: Duration): Promise<Date> {
    const ms = msToNumber(span);
    if (!(ms >= 0)) throw new RangeError(`a clock does not go back: ${span}`);
    return this.#alone(async () => {
      const end = this.#parts.timeLine.now() + ms;
      for (;;) {
        const due = await this.#next(await this.#rest());
        if (due > end) break;
        await this.#stopAt(due);
      }
      await this.#moveTo(end);
      return this.now();
    });
  }

  /** Moves the clock on until the promise is settled, and returns what it gives: `runUntil(letter.result())`. */
  runUntil<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = work.then(
      () => void (isSettled = true),
      () => void (isSettled = true),
    );
    return this.#alone(async () => {
      let before: Waits[] = [];
      while (!isSettled) {
        const waits = await this.#rest();
        const due = await this.#next(waits);
        const isOver = due === Infinity || waits.length < before.length;
        const hasNews = JSON.stringify(historiesOf(waits)) !== JSON.stringify(historiesOf(before));
        const readingMs = isOver ? LAST_READING_MS : hasNews ? READING_MS : 0;
        await Promise.race([settled, delay(readingMs, undefined, { ref: false })]);
        if (isSettled) break;
        if (due === Infinity)
          throw new Error("nothing is due any more: what was waited for needs a person or a call");
        before = waits;
        await this.#stopAt(due);
      }
      return work;
    });
  }

  /** One movement after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const move = this.#move.then(async () => {
      await delay(LISTED_MS);
      return work();
    });
    this.#move = move.catch(() => undefined);
    return move;
  }

  /** Waits until nothing happens any more by itself; returns what the open processes wait for. */
  async #rest(): Promise<Waits[]> {
    const { database, processes, sandbox } = this.#parts;
    const limit = performance.now() + MAX_UNREST_MS;
    let before: string | undefined;
    for (;;) {
      const { ran } = await sandbox.advance(0);
      const hasCallbacks = await database.hasCallbacks();
      const waits = await processes.waits();
      const busy = waits.filter(({ isBusy }) => isBusy).map(({ workflowId }) => workflowId);
      const isQuiet = ran === 0 && !hasCallbacks && busy.length === 0;
      const seen = isQuiet ? JSON.stringify(waits) : undefined;
      // What one of them told another one on the way shows at the second look.
      if (seen !== undefined && seen === before) return waits;
      before = seen;
      if (performance.now() > limit)
        throw new Error(`the virtual clock waits in vain for ${busy.join(", ") || "callbacks"}`);
      await delay(PAUSE_MS);
    }
  }

  async #next(waits: Waits[]): Promise<number> {
    const { next } = await this.#parts.sandbox.clock();
    const own = waits.flatMap(({ timers, retries }) => [
      ...timers,
      ...retries.map(({ due }) => due),
    ]);
    return Math.min(...own, next === undefined ? Infinity : Date.parse(next));
  }

  /** The providers come first: a poll reads what they have done at that instant. */
  async #stopAt(due: number): Promise<void> {
    const now = await this.#moveTo(due);
    for (const waits of await this.#rest()) await this.#parts.processes.wake(waits, now);
  }

  /** A time that is over, as a program without the clock may ask for, is now. */
  async #moveTo(virtual: number): Promise<number> {
    const { timeLine, database, sandbox } = this.#parts;
    const to = Math.max(virtual, timeLine.now());
    timeLine.step(to);
    await database.step(to);
    const { now } = await sandbox.clock();
    await sandbox.advance(Math.max(0, to - Date.parse(now)));
    return to;
  }
}

function historiesOf(waits: Waits[]) {
  return waits.map(({ workflowId, historyLength }) => [workflowId, historyLength]);
}
