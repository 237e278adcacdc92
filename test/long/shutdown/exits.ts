// How a role ends when a supervisor stops it.
import type { Exit } from "../../../packages/dev/src/processes/child.js";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { eventually } from "../../harness/outages/wait.js";

export type Ending = Exit & { seconds: number };

/** Its `note` is the stack's `onDeath`. */
export class Exits {
  readonly #seen = new Map<number, Exit>();

  readonly note = (role: Role, exit: Exit): void => void this.#seen.set(role.pid, exit);

  /** `repeatedly`: more signals follow while the role handles the first. */
  async stop(role: Role, repeatedly = false): Promise<Ending> {
    const { pid } = role;
    const began = performance.now();
    process.kill(pid, "SIGTERM");
    const repeat = setInterval(() => {
      if (repeatedly && role.isAlive())
        for (const signal of ["SIGINT", "SIGTERM"]) process.kill(pid, signal);
    }, 20);
    try {
      const exit = await eventually(`the end of ${role.name}`, () => this.#seen.get(pid), 60_000);
      return { ...exit, seconds: (performance.now() - began) / 1_000 };
    } finally {
      clearInterval(repeat);
    }
  }
}
