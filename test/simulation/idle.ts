// Months in which nothing happens but programs that look again every few seconds would take all the time of a simulation. When nothing has
// happened for a while, the clock jumps to the next time at which something will, as for a machine that was asleep: every look that is due
// meanwhile is made once.
import type { World } from "./world.js";

/** Retries of what has just failed come within this time. */
const QUIET_MS = 90_000;
/** A jump that is shorter saves nothing. */
const LEAST_JUMP_MS = 20_000;
/** What is tried again only after minutes is not put off for longer. */
const MOST_JUMP_MS = 30 * 60_000;

/** Whose timers bring something new. */
const awaited = new Set(["temporal", "providers", "application", undefined]);

interface Timer {
  callAt: number;
  func?: { program?: { name: string } };
}

export class Idle {
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
    if (world.now - this.#happenedAt > QUIET_MS) {
      await world.drain();
      const { timers } = world.clock as unknown as { timers: Map<number, Timer> };
      let next = world.now + MOST_JUMP_MS;
      for (const { callAt, func } of timers.values())
        if (callAt < next && awaited.has(func?.program?.name)) next = callAt;
      // Its program fires first at the end of the jump, in the order of the timers.
      if (next - world.now > LEAST_JUMP_MS) world.clock.jump(next - world.now - 1);
    }
    if (!(await world.step())) throw new Error("nothing is left to happen");
  }
}
