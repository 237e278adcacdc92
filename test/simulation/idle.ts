// Months in which nothing happens but programs that look again every few seconds would take all the time of a simulation. When nothing has
// happened for a while, the clock jumps to the next time at which something will, as for a machine that was asleep: every look that is due
// meanwhile is made once. A jump is in proportion to the quiet before it, so what is tried again after a pause comes within a few pauses.
import type { World } from "./world.js";

const QUIET_MS = 1_000;
/** Of the quiet so far: while what is tried again comes within seconds, and later. */
const JUMP_SHARE = 3;
const LONG_QUIET_MS = 60_000;
const LONG_JUMP_SHARE = 30;

/** What is due within it is let happen: a message under way does not take hours. */
const MOMENT_MS = 200;

/** When every process has ended, nothing is tried again. */
const AT_REST_MS = 24 * 60 * 60_000;

/** Whose timers bring something new. */
const awaited = new Set(["temporal", "providers", "application", undefined]);

interface Timer {
  callAt: number;
  func?: { program?: { name: string } };
}

export class Idle {
  /** Whether a program is in the midst of something, whose own time limits count. */
  isAtWork = (): boolean => false;
  /** Whether every process has ended, and none is about to begin. */
  isAtRest = (): boolean => false;
  /** The programs that have nothing to do until something happens: jumps pass them by, as if they were stopped meanwhile. */
  asleep = (): readonly (string | undefined)[] => [];
  readonly #world: World;
  #happenedAt: number;
  #atWork = 0;

  constructor(world: World) {
    this.#world = world;
    this.#happenedAt = world.now;
  }

  /** Something has happened. */
  touch(): void {
    this.#happenedAt = this.#world.now;
  }

  /** Until it has settled, the clock does not jump. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#atWork += 1;
    return work.finally(() => (this.#atWork -= 1));
  }

  get #quietMs(): number {
    return this.#world.now - this.#happenedAt;
  }

  get #mostMs(): number {
    const share = this.#quietMs < LONG_QUIET_MS ? JUMP_SHARE : LONG_JUMP_SHARE;
    return share * this.#quietMs;
  }

  #jump(timers: Map<number, Timer>, ms: number): void {
    const asleep = this.asleep();
    for (const timer of asleep.length > 0 ? timers.values() : [])
      if (asleep.includes(timer.func?.program?.name)) timer.callAt += ms;
    this.#world.clock.jump(ms);
  }

  get #isQuiet(): boolean {
    return this.#atWork === 0 && this.#quietMs >= QUIET_MS && !this.isAtWork();
  }

  /** Lets so much time pass. */
  async rest(ms: number): Promise<void> {
    this.touch();
    const end = this.#world.now + ms;
    while (this.#world.now < end) await this.advance();
  }

  /** Lets the next thing happen, or jumps to where one will. */
  async advance(): Promise<void> {
    const world = this.#world;
    if (this.#isQuiet) await world.drain();
    // What the drain has let run may have begun something.
    if (this.#isQuiet) {
      const { timers } = world.clock as unknown as { timers: Map<number, Timer> };
      const soon = world.now + MOMENT_MS;
      let next = world.now + (this.isAtRest() ? AT_REST_MS : this.#mostMs);
      for (const { callAt, func } of timers.values())
        if (callAt < next && (callAt < soon || awaited.has(func?.program?.name))) next = callAt;
      // Its program fires first at the end of the jump, in the order of the timers.
      if (next - world.now > 1) this.#jump(timers, next - world.now - 1);
    }
    if (!(await world.step())) throw new Error("nothing is left to happen");
  }
}
