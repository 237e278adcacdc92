// Declares a command: summary, example, `--json`, and the exit codes in its help (docs/design.md §13).
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { processes } from "../contracts/registry.js";
import type { ProcessName } from "../contracts/registry.js";
import { namePlaceholder } from "../contracts/shared/decisions.js";
import { suggestionFor } from "../contracts/shared/nearest.js";
import { exitCodeHelp } from "./output/exit.js";
import { continued } from "./output/wrap.js";

export interface CommandText {
  summary: string;
  details?: string;
  /** What each argument is, by its name. */
  arguments?: Record<string, string>;
  /** One or more command lines. */
  example: string;
  /** True for a command that only groups other commands. */
  isGroup?: boolean;
}

/** Adds a command; `name` includes its arguments in commander's notation: `status <id>`. */
export function addCommand(parent: Command, name: string, text: CommandText): Command {
  const { summary, details, example, isGroup = false } = text;
  const command = parent.command(name).summary(summary);
  for (const argument of command.registeredArguments)
    argument.description = text.arguments?.[argument.name()] ?? "";
  command.description(
    details === undefined ? sentence(summary) : `${sentence(summary)}\n\n${unwrapped(details)}`,
  );
  if (!isGroup) command.option("--json", "print JSON on stdout");
  const examples = example.split("\n").map((line) => `  $ ${continued(line, 76)}`);
  command.addHelpText("after", `\nExample:\n${examples.join("\n")}\n\n${exitCodeHelp}`);
  return command;
}

/** A command that sends an update to a process. */
export function addUpdateCommand(parent: Command, name: string, text: CommandText): Command {
  const note = name.includes("...") ? "; only with a single ID and --attention" : "";
  return addCommand(parent, name, text).option(
    "--update-id <id>",
    `repeat the update with this id, whose outcome is unknown: it happens once${note}`,
    updateId,
  );
}

function updateId(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new InvalidArgumentError("must be the update id that an earlier call has named");
}

export function csvOption(): Option {
  return new Option("--csv", "print CSV on stdout").conflicts("json");
}

export function parseProcessName(text: string): ProcessName {
  const found = processes.find((name) => name === text);
  if (found) return found;
  throw new InvalidArgumentError(`unknown process; ${suggestionFor(text, processes)}`);
}

export function processArgument(): Argument {
  return new Argument("<process>", "the name of the process")
    .choices(processes)
    .argParser(parseProcessName);
}

export function wholeNumber(minimum = 0, maximum = 1_000_000_000): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`must be a whole number from ${minimum} to ${maximum}`);
  };
}

export function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** An option that may be repeated, each time with one of the choices. */
export function severalOf(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((text, before?: string[]) => {
    if (choices.includes(text)) return collect(text, before);
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
  });
}

/** Joins the lines of a sentence, so that commander can wrap it; a line break after a sentence stays. */
function unwrapped(details: string): string {
  return details.replaceAll(/(?<![.:])\n/g, " ");
}

function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}

/** The name of the person who decides. The placeholder of a copied command is refused. */
export function personName(text: string): string {
  if (text.trim() === "" || text.trim() === namePlaceholder)
    throw new InvalidArgumentError("must be the name of the person who decides");
  return text;
}
