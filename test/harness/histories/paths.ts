// The paths of every process, each run on the real stack: replay records them, one test runs them without a cache, and one
// searches them for canaries. A new process adds its paths and inputs to test/processes, never a harness.
import { brought } from "../../processes/index.js";
import type { PathsOf } from "./path-run.js";

/** One after the other: Jest cannot load two modules that share an import at once. */
export const allPaths: PathsOf[] = [];
for (const { paths } of Object.values(brought)) allPaths.push(await paths());
