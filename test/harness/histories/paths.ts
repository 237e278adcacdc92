// The paths of every process, each run on the real stack: replay records them, one test runs them without a cache, and one
// searches them for canaries. A new process adds its paths and inputs to test/processes, never a harness.
import { brought } from "../../processes/index.js";
import type { PathsOf } from "./path-run.js";

export const allPaths: PathsOf[] = await Promise.all(
  Object.values(brought).map(({ paths }) => paths()),
);
