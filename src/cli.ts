#!/usr/bin/env node
// `trustflow <command>`: see docs/cli.md.
import { exitCodes } from "./cli/output/exit.js";
import { runCommandLine } from "./cli/program.js";

// A reader such as `| head` closes the pipe early; that is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  process.stderr.write(`Cannot write to stdout: ${error.message}\n`);
  process.exit(exitCodes.invalid);
});

// Resources that a failed start left open (a native runtime, a socket) must not keep the command alive.
const LINGER_MS = 2_000;

process.exitCode = await runCommandLine(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();
