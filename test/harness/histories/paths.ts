// The paths through every process, each run on the real stack: what replay records, what runs without a cache, and what
// the canaries are looked for in. A new process adds its paths and its inputs to test/processes, never a harness.
import { brought } from "../../processes/index.js";
import type { PathsOf } from "./path-run.js";

/** One after the other: Jest cannot load two modules that share an import at once. */
export const allPaths: PathsOf[] = [];
for (const { paths } of Object.values(brought)) allPaths.push(await paths());
