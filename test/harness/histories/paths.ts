// The ways through every process, each walked on the real stack: what replay records, what runs without a cache, and what
// the canaries are looked for in. A new process adds its paths and its inputs to test/processes, never a harness.
import { brought } from "../../processes/index.js";

export const allPaths = await Promise.all(Object.values(brought).map(({ paths }) => paths()));
