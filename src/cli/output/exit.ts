// Maps every error of a command to an exit code (docs/design.md §13).
import { CommanderError } from "commander";
import { CommandError, exitCodes } from "../../roles/exit-codes.js";
import type { ExitCode } from "../../roles/exit-codes.js";

export { CommandError, exitCodes } from "../../roles/exit-codes.js";
export type { ExitCode } from "../../roles/exit-codes.js";

export const usageError = (message: string) => new CommandError(exitCodes.invalid, message);
export const accountMissing = (account: string, provider: string) =>
  usageError(
    `account: accounts.${account}.${provider} is not configured. With "trustflow dev", source ".trustflow/operator.env"`,
  );

export const exitCodeHelp = `Exit codes:
  0  success
  1  the process failed, or the answer or outcome is not the requested one
  2  usage or invalid input
  3  unknown id
  4  Temporal, the database or the configuration is unavailable
  5  needs an operator decision`;

/** In ascending order of severity. */
const severity: ExitCode[] = [0, 5, 1, 3, 2, 4];

/** The exit code of a command that does several things. */
export function worstOf(codes: Iterable<ExitCode>): ExitCode {
  const met = new Set(codes);
  return severity.findLast((code) => met.has(code)) ?? exitCodes.ok;
}

/** The exit codes of our own error classes, by name, so that no command has to load the classes. */
const codeByName: Record<string, ExitCode> = {
  InvalidInputError: exitCodes.invalid,
  InputMismatchError: exitCodes.invalid,
  NotAcceptedError: exitCodes.failed,
  AbandonedError: exitCodes.failed,
  FinishedError: exitCodes.failed,
  UnknownProcessError: exitCodes.unknownId,
  DocumentNotFoundError: exitCodes.unknownId,
  DocumentStoreFullError: exitCodes.unreachable,
  UnreachableError: exitCodes.unreachable,
  ClientClosedError: exitCodes.unreachable,
  StuckError: exitCodes.unreachable,
  UnprovenAnswerError: exitCodes.unreachable,
  NamespaceNotFoundError: exitCodes.unreachable,
  UnknownKeyError: exitCodes.unreachable,
  MissingDataKeyError: exitCodes.unreachable,
  DocumentErasedError: exitCodes.unknownId,
  DocumentStoreUnavailableError: exitCodes.unreachable,
  DecryptionError: exitCodes.unreachable,
  TemporalRefusedError: exitCodes.unreachable,
  ConfigurationError: exitCodes.unreachable,
  TlsRefusedError: exitCodes.unreachable,
  AccessDeniedError: exitCodes.unreachable,
  NamespaceMissingError: exitCodes.unreachable,
  WrongCodecKeyError: exitCodes.unreachable,
};

/** With `--json` the output has it as `error`. */
const names: Record<ExitCode, string> = {
  0: "AsAsked",
  1: "Failed",
  2: "Invalid",
  3: "UnknownId",
  4: "OutOfReach",
  5: "WaitsForPerson",
};

/** PostgreSQL's: no connection, no right, read-only as a standby, no room, shut down or too slow. */
const awayBySqlState = /^(08|25006|42501|53|57)/;

/** gRPC codes which mean that Temporal was unreachable or refused the caller. */
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
  // The commands of other packages throw an error of this name too.
  if (name === "CommandError") {
    const { exitCode } = error as CommandError;
    return { exitCode, error: names[exitCode], message, ...withFields };
  }
  const cause = (error.cause ?? error) as { code?: unknown; details?: unknown };
  const unreachable = (why: string, kind = name): Failure => {
    return { exitCode: exitCodes.unreachable, error: kind, message: why };
  };
  if (typeof cause.code === "number" && awayByGrpc.has(cause.code)) {
    const reason = typeof cause.details === "string" ? cause.details : message;
    return unreachable(`Cannot reach Temporal: ${reason}`);
  }
  if (typeof cause.code === "string" && "severity" in cause && awayBySqlState.test(cause.code))
    return unreachable(`The database refuses: ${message}`, names[exitCodes.unreachable]);
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall === "listen") return unreachable(`Cannot listen: ${message}`);
  if (syscall === "getaddrinfo") return unreachable(`Cannot find the host: ${message}`);
  const exitCode = codeByName[name] ?? exitCodes.failed;
  return { exitCode, error: name, message, ...withFields };
}

function usageFailure({ code, message }: CommanderError): Failure {
  const isHelp = code === "commander.help";
  return {
    exitCode: exitCodes.invalid,
    error: names[exitCodes.invalid],
    message: isHelp ? "no command given: see --help" : message.replace(/^error: /, ""),
  };
}
