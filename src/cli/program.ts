// The command line as a whole: which commands there are, and how a command ends (DESIGN §13).
import { Command, CommanderError } from "commander";
import { exitCodeHelp, exitCodes, failureOf } from "./exit.js";
import { addMigrate } from "./migrate.js";
import { writeFailure, writeJson } from "./output.js";
import { addRoles } from "./roles.js";
import { addSandbox } from "./sandbox.js";

/** Runs one command and returns its exit code. */
export async function runCommandLine(args: string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? exitCodes.asAsked);
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.asAsked : exitCodes.invalid;
    }
    const failure = failureOf(error);
    writeFailure(failure);
    if (args.includes("--json")) writeJson(failure);
    return failure.exitCode;
  }
}

function createProgram(): Command {
  const program = new Command("trustflow")
    .description("Trust-service provider APIs as durable Temporal processes.")
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", `\nExample:\n  $ trustflow send-postal --input letter.json --watch\n\n${exitCodeHelp}`);
  addRoles(program);
  addSandbox(program);
  addMigrate(program);
  return program;
}
