// The benchmark runs in a process of its own, on the build in dist/.
import { join } from "node:path";
import { root, runStep } from "./steps.mjs";

/** @param {string[]} args */
export function bench(args) {
  const loader = new URL("typescript.mjs", import.meta.url).href;
  return runStep(process.execPath, ["--import", loader, join(root, "bench", "run.ts"), ...args]);
}
