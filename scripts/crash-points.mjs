#!/usr/bin/env node
// `npm run crash-points [-- --json]`: every call of every process × every phase × every interruption, on a stack of its own.
// Prints the matrix, keeps it as a file of the run, and fails where an effect was doubled or lost.
import { register } from "node:module";
import { ensureInstalled } from "./install.mjs";
import { runBuild } from "./steps.mjs";

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
register("./typescript.mjs", import.meta.url);
/** @param {string} path */
const test = (path) => import(new URL(`../test/${path}.ts`, import.meta.url).href);
const [{ enumerateCrashPoints }, { keepReport, printTable, reportOf }, { processesUnderTest }] =
  await Promise.all(
    ["harness/crashes/enumeration", "harness/crashes/matrix", "processes/index"].map(test),
  );
const rows = [];
for (const underTest of processesUnderTest)
  rows.push(...(await enumerateCrashPoints(underTest)).rows);
const report = reportOf(rows);
await keepReport(report);
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
else printTable(report);
process.exitCode = report.double + report.lost > 0 ? 1 : 0;
