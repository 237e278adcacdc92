// The one place that prints: data on stdout, everything else on stderr; colour only on a terminal and never with NO_COLOR.
import { styleText } from "node:util";
import type { Failure } from "./exit.js";

type Style = "bold" | "dim" | "red" | "green" | "yellow";

export function writeData(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** One JSON document. */
export function writeJson(value: unknown): void {
  writeData(JSON.stringify(value, undefined, 2));
}

/** One line of JSON Lines. */
export function writeJsonLine(value: unknown): void {
  writeData(JSON.stringify(value));
}

export function writeNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** One line; the message names the fields. */
export function writeFailure({ message }: Failure): void {
  writeNote(paint("red", printable(message), process.stderr));
}

/** With `--json`: one line of JSON, on stderr all the same. */
export function writeFailureJson(failure: Failure): void {
  writeNote(JSON.stringify(failure));
}

export function paint(
  style: Style,
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return hasColour(stream) ? styleText(style, text, { validateStream: false }) : text;
}

function hasColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/** Rows under their headings, in columns; nothing for no rows. */
export function table(headings: string[], rows: (string | undefined)[][]): string {
  const lines = rows.map((row) => headings.map((_, index) => printable(row[index] ?? "")));
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...lines.map((line) => line[index]?.length ?? 0)),
  );
  const pad = (line: string[]) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  return [paint("bold", pad(headings)), ...lines.map(pad)].join("\n");
}

/** `name: value` lines; what is undefined is left out. */
export function facts(entries: [string, string | undefined][]): string {
  const present = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present
    .map(([name, value]) => `${paint("dim", name.padEnd(width))}  ${printable(value)}`)
    .join("\n");
}

/** Text from elsewhere cannot move the cursor or colour the terminal. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "\uFFFD");
}

/** `2 affidavit, 1 submitted`, or 0. */
export function countsByKind(counts: Record<string, number>): string {
  const texts = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return texts.length > 0 ? texts.join(", ") : "0";
}
