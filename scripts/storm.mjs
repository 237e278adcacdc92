#!/usr/bin/env node
// `npm run storm [-- --callbacks N] [--json]`: the callback storm of each process with an address of its own, each on a stack
// of its own. Prints one document of figures; fails where
// something was lost, doubled or left over.
import { parseArgs } from "node:util";
import { register } from "node:module";
import { inspect } from "node:util";
import { ensureInstalled } from "./install.mjs";
import { runBuild, say } from "./steps.mjs";

const { values } = parseArgs({
  options: {
    callbacks: { type: "string", default: "10000" },
    json: { type: "boolean", default: false },
  },
});
if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
register("./typescript.mjs", import.meta.url);
const { storms } = await import(new URL("../test/harness/storms/script.ts", import.meta.url).href);
const report = await storms({
  callbacks: Number(values.callbacks),
  progress: say,
});
process.stdout.write(
  values.json ? `${JSON.stringify(report, null, 2)}\n` : `${inspect(report, { depth: 4 })}\n`,
);
process.exitCode = report.problems.length > 0 ? 1 : 0;
