// What a simulation consists of, as those who act in it take it.
import type { Checks } from "./checks.js";
import type { Database } from "./doors/database.js";
import type { Files } from "./doors/files.js";
import type { Network } from "./doors/sockets.js";
import type { Idle } from "./idle.js";
import type { Random } from "./random.js";
import type { System } from "./system.js";
import type { World } from "./world.js";

export interface Doors {
  world: World;
  network: Network;
  files: Files;
  database: Database;
}

export interface Stage extends Doors {
  system: System;
  checks: Checks;
  random: Random;
  idle: Idle;
  /** Whether persons ask in the last moment. */
  persons: { areLate: boolean };
  /** The ids of processes whose end a person has seen. */
  ended(): string[];
  say(text: string): void;
}

const lasting = new Map<string, number>();

/** A state that lasts until the last fault of its kind is over. */
export function during(
  { world }: Pick<Stage, "world">,
  kind: string,
  forMs: number,
  set: (isOn: boolean) => void,
): void {
  lasting.set(kind, (lasting.get(kind) ?? 0) + 1);
  set(true);
  world.after(forMs, () => {
    const left = lasting.get(kind)! - 1;
    lasting.set(kind, left);
    if (left === 0) set(false);
  });
}
