#!/usr/bin/env node
// Walks every path of every process, or of the processes that are named, on the real stack and writes its history to
// test/replay/<process>/, for the replay tests. Run it when a path is new or when a change of the workflows is meant (behind
// `patched`); look at the difference.
import { ensureInstalled } from "./install.mjs";
import { runBuild } from "./steps.mjs";
import { test } from "./test.mjs";

const named = process.argv.slice(2);
if (named.length > 0) process.env["RECORDED_PROCESSES"] = named.join(" ");
const ready = (await ensureInstalled()) && (await runBuild());
process.exitCode = ready ? await test(["--testMatch", "**/test/replay/record.ts"]) : 1;
