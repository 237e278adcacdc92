// What each process brings to the generators of tests, in the index of its folder.
import type { PathsOf } from "../harness/histories/path-run.js";

export interface Brought {
  /** How the simulation and the harnesses take the process. */
  underTest: unknown;
  /** The paths through the process. They use Vitest, so they are loaded where tests run, and nowhere else. */
  paths(): Promise<PathsOf>;
  /** The input in `examples/` that the README shows. */
  example: string;
  /** A good input, which its contract accepts. */
  input(intent: string): object;
}
