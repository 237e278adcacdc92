// Shared by the commands of the sandbox: help, arguments, the sandbox's URL, and the output of its answer.
import { type Command, InvalidArgumentError } from "commander";
import type { SandboxControl } from "../control/client.js";
import type { Speed } from "../engine/clock.js";

const DEFAULT_URL = "http://127.0.0.1:8090";

export const exitCodes = { failed: 1, invalid: 2, unknownId: 3, unreachable: 4 } as const;

const exitCodeHelp = `Exit codes:
  0  success
  1  an effect happened twice, or a call violated the protocol
  2  usage or invalid input
  3  unknown id
  4  the sandbox cannot be reached, or did not start`;

/** Ends a command with one of the exit codes. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface CommandText {
  summary: string;
  details?: string;
  /** What each argument is, by its name. */
  arguments?: Record<string, string>;
  /** One or more command lines, without the name of the program. */
  example: string;
}

/** `program`: how the caller starts it, for example `trustflow sandbox`. */
export function describe(command: Command, program: string, text: CommandText): Command {
  const { summary, details, example } = text;
  const sentence = `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
  for (const argument of command.registeredArguments)
    argument.description = text.arguments?.[argument.name()] ?? "";
  const examples = example.split("\n").map((line) => `  $ ${program}${line && ` ${line}`}`);
  return command
    .summary(summary)
    .description(details === undefined ? sentence : `${sentence}\n\n${details}`)
    .addHelpText("after", `\nExample:\n${examples.join("\n")}\n\n${exitCodeHelp}`);
}

export interface Program {
  name: string;
  /** The URL of the running sandbox, where the caller's configuration knows it. */
  url?: () => string | undefined;
}

interface ControlOptions {
  url?: string;
  json?: boolean;
}

export type AddControl = ReturnType<typeof controlsOf>;

/** Returns the function that adds one sub-command: its request, and its text output without `--json`. */
export function controlsOf(sandbox: Command, program: Program) {
  return function add<O extends object, R>(
    name: string,
    text: CommandText,
    ask: (control: SandboxControl, options: O, argument: string) => Promise<R>,
    words: (result: R) => string = json,
  ): Command {
    const takesArgument = name.includes(" ");
    return describe(sandbox.command(name), program.name, text)
      .option("--json", "print JSON on stdout")
      .option(
        "--url <url>",
        `URL of the sandbox; default: TRUSTFLOW_SANDBOX__URL, else ${DEFAULT_URL}`,
      )
      .action(async (...given: unknown[]) => {
        const [first, second] = given;
        const {
          url,
          json: asJson,
          ...options
        } = (takesArgument ? second : first) as ControlOptions & O;
        const { sandboxControl } = await import("../control/client.js");
        const at = url ?? program.url?.() ?? process.env["TRUSTFLOW_SANDBOX__URL"] ?? DEFAULT_URL;
        const result = await ask(sandboxControl(at), options as O, String(first)).catch(
          refused(at),
        );
        process.stdout.write(`${asJson ? json(result) : words(result)}\n`);
      });
  };
}

function refused(url: string): (error: Error & { code?: string }) => never {
  return (error) => {
    if (error instanceof CommandError) throw error;
    if (!error.message.includes("/_sandbox/")) {
      const reason = error.code ?? error.name;
      throw new CommandError(
        exitCodes.unreachable,
        `Cannot reach the sandbox at ${url}: ${reason}. With "trustflow dev", source ".trustflow/client.env"; else give its address with --url`,
      );
    }
    const status = /: (\d{3}) /.exec(error.message)?.[1];
    throw new CommandError(
      status === "404" ? exitCodes.unknownId : exitCodes.invalid,
      error.message,
    );
  };
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

/**
 * Rows in columns under their headings; a value is one plain line, because callers choose what stands in it. Where that is wider than the
 * terminal, each row is a block with a line for each value, so that none of them is cut.
 */
export function table(headings: string[], rows: (string | null | undefined)[][]): string {
  const cells = rows.map((row) => row.map((cell) => plain(cell ?? "")));
  const lines = [headings, ...cells];
  const widths = headings.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const inColumns = (line: string[]) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const { isTTY, columns } = process.stdout;
  if (isTTY && lines.some((line) => inColumns(line).length > columns))
    return cells.map((row) => block(headings, row)).join("\n");
  return lines.map(inColumns).join("\n");
}

function block(headings: string[], [first = "", ...others]: string[]): string {
  const facts = others.map((cell, at) => cell && `  ${headings[at + 1]?.toLowerCase()}: ${cell}`);
  return [first, ...facts.filter(Boolean)].join("\n");
}

const plain = (text: string) => text.replaceAll(/[\p{C}\s]+/gu, " ");

export function wholeNumber(minimum = 0, most = Infinity): (text: string) => number {
  const to = most === Infinity ? "" : ` to ${most}`;
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${minimum}${to}`);
  };
}

export function speed(text: string): Speed {
  const value = Number(text);
  if (text === "manual" || text === "auto") return text;
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('must be a number above 0, "manual" or "auto"');
}

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `90s`, `6h`, `60d` into milliseconds. */
export function span(text: string): number {
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (digits === undefined)
    throw new InvalidArgumentError("must look like 500ms, 90s, 10m, 6h or 60d");
  const ms = Number(digits) * unitsMs[unit as keyof typeof unitsMs];
  if (ms > 36_525 * unitsMs.d) throw new InvalidArgumentError("must be at most 36525d");
  return ms;
}

/** An argument of a sub-command, which commander hands on as text. */
export function spanGiven(text: string): number {
  try {
    return span(text);
  } catch (error) {
    throw new CommandError(exitCodes.invalid, `span: ${(error as Error).message}`);
  }
}
