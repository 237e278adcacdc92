#!/usr/bin/env node
// Runs every path of every process, or those that are named (`sendPostal`, `sendPostal/delivered`), on the real stack and writes
// its history to test/replay/<process>/, for the replay tests. The folder of each process that is recorded as a whole is emptied
// before. Run it when a path is new. Recordings that it replaces go into a commit of their own, and only until the first release
// (test/replay/kept.test.ts). Look at the difference.
import { ensureInstalled } from "./install.mjs";
import { runBuild } from "./steps.mjs";
import { vitest } from "./test.mjs";

const named = process.argv.slice(2);
if (named.length > 0) process.env["RECORDED"] = named.join(" ");
const ready = (await ensureInstalled()) && (await runBuild());
process.exitCode = ready ? await vitest("record", ["run"]) : 1;
