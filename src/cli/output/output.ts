// The only file that prints: data on stdout, everything else on stderr. It accepts `Terminal` text, JSON and CSV.
import { once } from "node:events";
import { visibleJson, csvLine } from "../../contracts/shared/text.js";
import type { Failure } from "./exit.js";
import { columns, fitted, isLive, linesOf, padded, paint, terminal } from "./terminal.js";
import type { Terminal } from "./terminal.js";
import { widthOf } from "./wrap.js";

export function writeData(text: Terminal): void {
  writeFitted(process.stdout, text);
}

export function writeNote(text: Terminal): void {
  writeFitted(process.stderr, text);
}

function writeFitted(stream: NodeJS.WriteStream, text: Terminal): void {
  write(stream, fitted(text, widthOf(stream)).source);
}

/** On a terminal: replaces the current line. */
export function writeOver(stream: NodeJS.WriteStream, { source }: Terminal): void {
  stream.write(`\r\u001b[K${source}`);
}

/** On a terminal, one line on stderr that is rewritten; elsewhere a line of stdout for each text that differs. */
export class LiveLine {
  readonly #isLive = isLive(process.stderr);
  #shown = "";

  show(line: Terminal): void {
    if (this.#isLive) writeOver(process.stderr, line);
    else if (line.source !== this.#shown) writeData(line);
    this.#shown = line.source;
  }

  clear(): void {
    if (this.#isLive && this.#shown !== "") writeOver(process.stderr, terminal``);
  }
}

/** One JSON document. */
export function writeJson(value: unknown): void {
  writeJsonText(JSON.stringify(value, undefined, 2));
}

/** A command's answer: JSON with `--json`, else a text. */
export function writeAnswer(json: boolean | undefined, value: unknown, text: Terminal): void {
  if (json) writeJson(value);
  else writeData(text);
}

/** JSON that is text already, and may have comments. */
export function writeJsonText(json: string): void {
  write(process.stdout, visibleJson(json));
}

export function writeJsonLine(value: unknown): void {
  write(process.stdout, visibleJson(JSON.stringify(value)));
}

/** With `--json`: one line of JSON on stderr, beside the data. */
export function writeNoteJson(value: unknown): void {
  write(process.stderr, visibleJson(JSON.stringify(value)));
}

/** Data of any size, as it is. */
export async function printPieces(
  ...parts: (AsyncIterable<Uint8Array> | Iterable<Uint8Array>)[]
): Promise<void> {
  const { stdout } = process;
  // Not `pipeline`: it leaves its listeners on stdout.
  for (const part of parts)
    for await (const piece of part) if (!stdout.write(piece)) await once(stdout, "drain");
}

export type Rows = [headings: string[], rows: (string | undefined)[][]];

export function writeTable(...rows: Rows): void {
  writeData(table(...rows));
}

export function writeCsv(...rows: Rows): void {
  write(process.stdout, csvOf(...rows));
}

/** What stands under each heading: a member of the item, or what is made of it. */
export type Columns<T> = Record<string, keyof T | ((item: T) => string | undefined)>;

export interface ListFormat {
  json?: boolean | undefined;
  csv?: boolean | undefined;
}

/** A list as JSON, as CSV or as a table. */
export function writeList<T>({ json, csv }: ListFormat, items: T[], columnsOf: Columns<T>): void {
  if (json) return writeJson(items);
  const cells = Object.values(columnsOf);
  const rows = items.map((item) => cells.map((cell) => cellOf(item, cell)));
  (csv ? writeCsv : writeTable)(Object.keys(columnsOf), rows);
}

export function cellOf<T>(item: T, cell: Columns<T>[string]): string | undefined {
  const value = typeof cell === "function" ? cell(item) : item[cell];
  return value === undefined || value === null ? undefined : textOf(value);
}

/** A table for spreadsheets: one line per row. */
export function csvOf(...[headings, rows]: Rows): string {
  const lines = [headings, ...rows.map((row) => headings.map((_, index) => row[index] ?? ""))];
  return lines.map(csvLine).join("");
}

/** One line; the message names the fields. */
export function writeFailure(failure: Failure, json = false): void {
  if (json) writeNoteJson(failure);
  else writeNote(paint("red", failure.message, process.stderr));
}

function write(stream: NodeJS.WriteStream, text: string): void {
  stream.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Formats rows in columns under their headings, and in blocks where the columns are wider than the terminal. */
export function table(headings: Rows[0], rows: Rows[1], width = widthOf(process.stdout)): Terminal {
  const cells = rows.map((row) => headings.map((_, index) => terminal`${row[index] ?? ""}`));
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...cells.map((row) => row[index]?.source.length ?? 0)),
  );
  if (widths.reduce((sum, one) => sum + one + 2, -2) > width)
    return linesOf(cells.flatMap((row) => block(headings, row, width)));
  return linesOf([
    paint("bold", columns(headings, widths)),
    ...cells.map((row) => columns(row, widths)),
  ]);
}

/** The first cell, and below it those that have something, each with its heading. */
function block(headings: string[], [first, ...others]: Terminal[], width: number): Terminal[] {
  const lines = [paint("bold", first ?? "")];
  let [line, used] = [terminal`  `, Infinity];
  for (const [index, { source }] of others.entries()) {
    if (source === "") continue;
    const heading = headings[index + 1]?.toLowerCase() ?? "";
    const length = heading.length + 2 + source.length;
    const fits = used + 2 + length <= width;
    const fact = terminal`${paint("dim", `${heading}:`)} ${source}`;
    if (fits) line = terminal`${line}  ${fact}`;
    else {
      if (used !== Infinity) lines.push(line);
      line = terminal`  ${fact}`;
    }
    used = (fits ? used + 2 : 2) + length;
  }
  if (used !== Infinity) lines.push(line);
  return lines;
}

export type Facts = [name: string, value: string | Terminal | undefined][];

/** Formats `name: value` lines and leaves out undefined values. */
export function facts(entries: Facts): Terminal {
  const present = entries.filter(
    (entry): entry is [string, string | Terminal] => entry[1] !== undefined,
  );
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return linesOf(
    present.map(([name, value]) => terminal`${paint("dim", padded(name, width))}  ${value}`),
  );
}

/** The members of a row. */
export function factsOf(row: object): Terminal {
  return facts(Object.entries(row).map(([name, value]) => [name, textOf(value)]));
}

const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));

/** `2 affidavit, 1 submitted`, or 0. */
export function countsByKind(counts: Record<string, number>): string {
  const texts = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return texts.length > 0 ? texts.join(", ") : "0";
}
