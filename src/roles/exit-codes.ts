// The exit codes (docs/design.md §13), and the error that carries one: of a command, or of a role that cannot start.

export const exitCodes = {
  ok: 0,
  failed: 1,
  invalid: 2,
  unknownId: 3,
  unreachable: 4,
  waitsForPerson: 5,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The end of a command or of a role, with its exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** With an invalid input: which fields. */
  readonly fields: { path: string; problem: string }[];

  constructor(exitCode: ExitCode, message: string, fields: CommandError["fields"] = []) {
    super(message);
    this.exitCode = exitCode;
    this.fields = fields;
  }
}
