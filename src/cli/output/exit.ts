// The exit codes of docs/design.md §13, and which of them an error means. Everything a command throws passes through `failureOf`.
import { CommanderError } from "commander";
import { ConfigurationError } from "../../config.js";
import { CommandError, exitCodes } from "../../exit-codes.js";
import type { ExitCode } from "../../exit-codes.js";

export { CommandError, exitCodes } from "../../exit-codes.js";
export type { ExitCode } from "../../exit-codes.js";

export const exitCodeHelp = `Exit codes:
  0  as asked
  1  the process failed, or ended otherwise than asked for
  2  usage or invalid input
  3  unknown id
  4  Temporal, database or configuration out of reach
  5  waits for a person`;

/** What our own classes mean, by name, so that no command loads them only to recognise them. */
const codeByName: Record<string, ExitCode> = {
  InvalidInputError: exitCodes.invalid,
  InputMismatchError: exitCodes.invalid,
  NotAcceptedError: exitCodes.failed,
  AbandonedError: exitCodes.failed,
  FinishedError: exitCodes.failed,
  UnknownProcessError: exitCodes.unknownId,
  DocumentNotFound: exitCodes.unknownId,
  UnreachableError: exitCodes.unreachable,
  StuckError: exitCodes.unreachable,
  UnprovenAnswerError: exitCodes.unreachable,
  NamespaceNotFoundError: exitCodes.unreachable,
  UnknownKeyError: exitCodes.unreachable,
  MissingDataKeyError: exitCodes.unreachable,
  DocumentErased: exitCodes.unknownId,
  TemporalUnreachable: exitCodes.unreachable,
  PackagesMissing: exitCodes.unreachable,
};

/** What `--json` calls a CommandError. */
const names: Record<ExitCode, string> = {
  0: "AsAsked",
  1: "Failed",
  2: "Invalid",
  3: "UnknownId",
  4: "OutOfReach",
  5: "WaitsForPerson",
};

/** gRPC: the call, the caller or the namespace did not get through. */
const awayByGrpc = new Set([4, 7, 14, 16]);

export interface Failure {
  exitCode: ExitCode;
  error: string;
  message: string;
  fields?: { path: string; problem: string }[];
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { exitCode: exitCodes.failed, error: "Error", message: String(error) };
  }
  if (error instanceof CommanderError) return usageFailure(error);
  const { name, message } = error;
  const fields = (error as { fields?: Failure["fields"] }).fields ?? [];
  const withFields = fields.length > 0 ? { fields } : {};
  if (error instanceof CommandError) {
    return { exitCode: error.exitCode, error: names[error.exitCode], message, ...withFields };
  }
  const cause = (error.cause ?? error) as { code?: unknown; details?: unknown };
  if (typeof cause.code === "number" && awayByGrpc.has(cause.code)) {
    const reason = typeof cause.details === "string" ? cause.details : message;
    return {
      exitCode: exitCodes.unreachable,
      error: name,
      message: `Temporal cannot be reached: ${reason}`,
    };
  }
  if ((error as NodeJS.ErrnoException).syscall === "listen") {
    return { exitCode: exitCodes.unreachable, error: name, message: `Cannot listen: ${message}` };
  }
  const exitCode =
    error instanceof ConfigurationError
      ? exitCodes.unreachable
      : (codeByName[name] ?? exitCodes.failed);
  return { exitCode, error: name, message, ...withFields };
}

function usageFailure({ code, message }: CommanderError): Failure {
  const isHelp = code === "commander.help";
  return {
    exitCode: exitCodes.invalid,
    error: names[exitCodes.invalid],
    message: isHelp ? "a command is missing: see --help" : message.replace(/^error: /, ""),
  };
}
