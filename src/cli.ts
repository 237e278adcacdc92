#!/usr/bin/env node
// `trustflow <command>`: see docs/cli.md.
import { runCommandLine } from "./cli/program.js";

// A reader that has seen enough (`| head`) closes the pipe: that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// What a failed start has left open (a native runtime, a socket) does not keep the command alive.
const LINGER_MS = 2_000;

process.exitCode = await runCommandLine(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();
