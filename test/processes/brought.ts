// What each process brings to the generators of tests, in the index of its folder.
import type { PathsOf } from "../harness/histories/path-run.js";
import type { Waits } from "./waits.js";

export interface Brought {
  /** How the harnesses of crashes, storms, time and speed take the process. */
  underTest: unknown;
  /** The paths through the process. They use Jest, so they are loaded where tests run, and nowhere else. */
  paths(): Promise<PathsOf>;
  /** How it waits, and what the persons around it do. */
  waits: Waits;
  /** The input in `examples/` that the README shows. */
  example: string;
  /** A good input, which its contract accepts. */
  input(intent: string): object;
}
