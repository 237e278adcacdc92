#!/usr/bin/env node
// `npm run simulate [-- --seed N] [--steps N] [--for 10m] [--process NAME] [--replay FILE] [--json]`: the whole system in one process under
// one seed (docs/simulation.md).
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, runStep } from "./steps.mjs";

const ready = (await ensureInstalled()) && (await runBuild());
const loader = new URL("typescript.mjs", import.meta.url).href;
const main = join(root, "test", "simulation", "main.ts");
process.exitCode = ready
  ? await runStep(process.execPath, ["--import", loader, main, ...process.argv.slice(2)])
  : 1;
