// What `callbacks` and `webhooks` have in common: rows that have numbers, newest first, which an operator sends on their way again.
import type { Command } from "commander";
import { csvOption, wholeNumber } from "../command.js";
import { exitCodes, usageError } from "../output/exit.js";
import { writeData, writeJson, writeList, writeNote, writeNoteJson } from "../output/output.js";
import type { Columns, ListFormat } from "../output/output.js";
import { terminal } from "../output/terminal.js";

/** The number of a row, as the command `list` of its group shows it; `argument` names it in the error. */
export function listedNumber(text: string, argument: string, group: string): string {
  if (/^\d{1,18}$/.test(text)) return String(BigInt(text));
  throw usageError(`${argument}: ${text} must be a number, as "trustflow ${group} list" shows it`);
}

export function addPaging(command: Command, what: "callback" | "delivery"): Command {
  const all = what === "callback" ? "callbacks" : "deliveries";
  return command
    .option(`--before <${what}>`, `only ${all} before this one, for the next page`)
    .option(
      "--limit <n>",
      'maximum number of rows; of more, a note on stderr tells, with --json as {"before":"ID"}',
      wholeNumber(1),
      100,
    )
    .addOption(csvOption());
}

/** `rows` are one more than asked for where there are more. */
export function writePage<T extends { id: string }>(
  rows: T[],
  columns: Columns<T>,
  { limit, ...format }: ListFormat & { limit: number },
): void {
  const shown = rows.slice(0, limit);
  writeList(format, shown, columns);
  if (rows.length === shown.length) return;
  const { id: before = "" } = shown.at(-1) ?? {};
  if (format.json) writeNoteJson({ before });
  else writeNote(terminal`There are more: --before ${before} shows them`);
}

/** Ends with 1 if one of them was not replayed; `why` says why that may be. */
export function sayReplayed(
  json: boolean | undefined,
  all: string[],
  replayed: string[],
  why: string,
): void {
  const done = new Set(replayed);
  const notReplayed = all.filter((id) => !done.has(id));
  if (json) writeJson({ replayed, notReplayed });
  else
    for (const id of all)
      writeData(terminal`${id}  ${done.has(id) ? "replayed" : `not replayed: ${why}`}`);
  if (notReplayed.length > 0) process.exitCode = exitCodes.failed;
}
