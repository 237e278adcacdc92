// Months in which nothing happens but programs that look again every few seconds would take all the time of a simulation. When nothing has
// happened for a while, the clock jumps to the next time at which something will, as for a machine that was asleep: every look that is due
// meanwhile is made once. A jump is in proportion to the quiet before it, so what is tried again after a pause comes within a few pauses.
import type { World } from "./world.js";

const QUIET_MS = 6_000;
/** Of the quiet so far. */
const JUMP_SHARE = 3;

/** Whose timers bring something new. */
const awaited = new Set(["temporal", "providers", "application", undefined]);

interface Timer {
  callAt: number;
  func?: { program?: { name: string } };
}

export class Idle {
  /** Whether a program is in the midst of something, whose own time limits count. */
  isAtWork = (): boolean => false;
  readonly #world: World;
  #happenedAt: number;

  constructor(world: World) {
    this.#world = world;
    this.#happenedAt = world.now;
  }

  /** Something has happened. */
  touch(): void {
    this.#happenedAt = this.#world.now;
  }

  /** Lets the next thing happen, or jumps to where one will. */
  async advance(): Promise<void> {
    const world = this.#world;
    const quietMs = world.now - this.#happenedAt;
    if (quietMs >= QUIET_MS && !this.isAtWork()) {
      await world.drain();
      const { timers } = world.clock as unknown as { timers: Map<number, Timer> };
      let next = world.now + JUMP_SHARE * quietMs;
      for (const { callAt, func } of timers.values())
        if (callAt < next && awaited.has(func?.program?.name)) next = callAt;
      // Its program fires first at the end of the jump, in the order of the timers.
      if (next - world.now > 1) world.clock.jump(next - world.now - 1);
    }
    if (!(await world.step())) throw new Error("nothing is left to happen");
  }
}
