#!/usr/bin/env node
// The program `trustflow-sandbox`.
import { Command, CommanderError } from "commander";
import { CommandError, exitCodes } from "./cli/command.js";
import { asSandbox } from "./cli/sandbox.js";

// Program and sub-commands have options of the same names.
const program = asSandbox(new Command("trustflow-sandbox").enablePositionalOptions(), {
  name: "trustflow-sandbox",
});
try {
  await program.exitOverride().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode && exitCodes.invalid;
  else {
    console.error((error as Error).message);
    process.exitCode = error instanceof CommandError ? error.exitCode : exitCodes.failed;
  }
}
