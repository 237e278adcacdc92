// The filters of `list`, which `logs` takes too, and `resolve` as `--where`.
import { type Command, InvalidArgumentError, Option } from "commander";
import { listedStates } from "../../client/list-request.js";
import type { ListFilter } from "../../client.js";
import { processes } from "../../contracts/registry.js";
import { attentionKinds } from "../../contracts/shared/failures.js";
import { Phase } from "../../contracts/shared/status.js";
import { suggestionFor } from "../../contracts/shared/nearest.js";
import { collect, parseProcessName, severalOf } from "../command.js";
import { timeAgo, timeAhead } from "../when.js";
import { allOutcomes } from "../processes/follow.js";

/** As `list` of the client takes them. */
export type FilterOptions = Omit<ListFilter, "attention" | "stuck" | "retrying">;

function filters(): Option[] {
  return [
    new Option("--process <process>", "only processes of this kind")
      .choices(processes)
      .argParser(parseProcessName),
    severalOf("--state <state>", "only processes in this state; may be repeated", listedStates),
    severalOf("--phase <phase>", "only processes in this phase; may be repeated", Phase.options),
    severalOf(
      "--outcome <outcome>",
      "only processes with this outcome; may be repeated",
      allOutcomes(),
    ),
    severalOf(
      "--kind <kind>",
      "only processes that need a decision of this kind; may be repeated",
      attentionKinds,
    ),
    parsed("--account <account>", "of this account; may be repeated", collect),
    parsed("--reason <text>", "that need a decision and whose reason has this text", String),
    parsed("--started-before <time>", "that started before this time; 2d is two days ago", timeAgo),
    parsed("--started-after <time>", "that started at this time or later", timeAgo),
    parsed(
      "--deadline-before <time>",
      "whose deadline is before this time; 2d is in two days, 0s is now",
      timeAhead,
    ),
    parsed("--deadline-after <time>", "whose deadline is at this time or later", timeAhead),
  ];
}

function parsed<T>(flags: string, which: string, parse: (text: string, before: T) => T): Option {
  return new Option(flags, `only processes ${which}`).argParser(parse);
}

/** `without`: filters that the command does not take. */
export function addFilters(command: Command, without: string[] = []): Command {
  for (const filter of filters())
    if (!without.includes(filter.attributeName())) command.addOption(filter);
  return command;
}

export const filterNames = filters().map((option) => option.attributeName());

/** `--where kind=accessDenied`: a filter of `list` by its name. */
export function whereOption(): Option {
  const known = new Map(filters().map((option) => [option.name(), option]));
  return new Option(
    "--where <filter>",
    'instead of IDs: all processes that need a decision and meet a filter of "trustflow list", such as kind=accessDenied; may be repeated',
  ).argParser((text: string, before: FilterOptions | undefined): FilterOptions => {
    const [name = "", ...rest] = text.split("=");
    const option = known.get(name);
    if (!option?.parseArg || rest.length === 0)
      throw new InvalidArgumentError(
        `must be name=value${option?.parseArg ? "" : `; ${suggestionFor(name, [...known.keys()])}`}`,
      );
    const key = option.attributeName() as keyof FilterOptions;
    return { ...before, [key]: option.parseArg(rest.join("="), before?.[key]) };
  });
}
