// The command line: its groups of commands, and the exit code of a run (docs/design.md §13).
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { addAlertEmails } from "./upkeep/alert-emails.js";
import { addCallbacks } from "./upkeep/callbacks.js";
import { addCompletion } from "./completion.js";
import { addCleanup } from "./upkeep/cleanup.js";
import { ownVersion } from "../config/environment.js";
import { addRelease } from "./upkeep/release.js";
import { addReplay } from "./upkeep/replay.js";
import { addDoctor } from "./doctor.js";
import { addDocuments } from "./upkeep/documents.js";
import { addExample, addProcessCommands } from "./processes/processes.js";
import { addEvidence } from "./processes/evidence.js";
import { addErase } from "./upkeep/erase.js";
import { addInit } from "./init.js";
import { exitCodeHelp, exitCodes, failureOf } from "./output/exit.js";
import { addMigrate } from "./upkeep/migrate.js";
import { addList } from "./operators/list.js";
import { addLogs } from "./operators/logs.js";
import { addResolve } from "./operators/resolve.js";
import { writeFailure } from "./output/output.js";
import { addLocal, addSandbox } from "./packages.js";
import { addRecipients } from "./batch/recipients.js";
import { addReport } from "./batch/report.js";
import { addRoles } from "./roles.js";
import { addKeys, addSchema } from "./keys/schema.js";
import { addStartMany } from "./many/start-many.js";
import { addStarts } from "./processes/start.js";
import { addUpdates } from "./processes/updates.js";
import { addWebhooks } from "./upkeep/webhooks.js";
import { addCommand } from "./command.js";
import { addLetters } from "./provider/letters.js";
import { addAffidavits, addAttachments, addNotices } from "./provider/notices.js";

const groups: [string, ((program: Command) => void | Promise<void>)[]][] = [
  ["Try it", [addLocal]],
  [
    "Processes",
    [
      addStarts,
      addStartMany,
      addProcessCommands,
      addUpdates,
      addRecipients,
      addReport,
      addEvidence,
      addDocuments,
      addSchema,
      addExample,
    ],
  ],
  [
    "Operators",
    [
      ...[addList, addLogs, addResolve, addCallbacks, addWebhooks],
      ...[addProvider, addAlertEmails, addErase, addDoctor],
    ],
  ],
  [
    "Deployment",
    [
      addInit,
      addMigrate,
      addRoles,
      addReplay,
      addRelease,
      addCleanup,
      addKeys,
      addSandbox,
      addCompletion,
    ],
  ],
];

/** Runs one command and returns its exit code. */
export async function runCommandLine(args: string[]): Promise<number> {
  const asJson = args.includes("--json");
  try {
    await (await createProgram(asJson)).parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    const failure = failureOf(error);
    // Of an argument that commander parses, it has printed another error.
    if (asJson || !(error instanceof CommanderError) || error instanceof InvalidArgumentError)
      writeFailure(failure, asJson);
    return failure.exitCode;
  }
}

/** Builds the program; tests also use it to read every command's help. With `asJson`, commander itself prints no error text. */
export async function createProgram(asJson = false): Promise<Command> {
  const program = new Command("trustflow")
    // Arguments would make the column so wide that commander no longer wraps the summaries.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput(asJson ? { writeErr: () => undefined } : {})
    .description("Trust-service provider APIs as durable Temporal processes.")
    .version(ownVersion())
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("(see --help)")
    .addHelpText(
      "after",
      `\nExample:\n  $ trustflow send-postal --input letter.json --watch\n\n${exitCodeHelp}`,
    );
  for (const [heading, add] of groups) {
    program.commandsGroup(`${heading}:`);
    for (const addTo of add) await addTo(program);
  }
  return program;
}

function addProvider(program: Command): void {
  const provider = addCommand(program, "provider", {
    summary: "read what a provider itself holds of an account",
    example: "trustflow provider letters --lookup-key case-2026-0042",
    isGroup: true,
  });
  addLetters(provider);
  addNotices(provider);
  addAttachments(provider);
  addAffidavits(provider);
}
