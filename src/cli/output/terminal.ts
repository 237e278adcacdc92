// What may stand on a terminal. Only the template `terminal` makes it, and whatever is put into it becomes one plain line: it moves
// no cursor, has no colour and begins no line. The functions of output.ts that write take nothing else.
import { styleText } from "node:util";
import { plainText } from "../../contracts/shared/text.js";

export type Style = "bold" | "dim" | "red" | "green" | "yellow";

let made: (source: string) => Terminal;

export class Terminal {
  readonly #source: string;

  private constructor(source: string) {
    this.#source = source;
  }

  static {
    made = (source) => new Terminal(source);
  }

  get source(): string {
    return this.#source;
  }
}

/** What is written in the template may have new lines, what is put in has none; a Terminal that is put in stays as it is. */
export function terminal(
  strings: TemplateStringsArray,
  ...values: (string | number | Terminal)[]
): Terminal {
  return made(String.raw({ raw: strings }, ...values.map((value) => ofText(value).source)));
}

export function linesOf(lines: Terminal[]): Terminal {
  return made(lines.map(({ source }) => source).join("\n"));
}

/** Blanks after it, up to the width; of text alone, as colours have a length too. */
export function padded(text: string | Terminal, width: number): Terminal {
  return made(ofText(text).source.padEnd(width));
}

/** Cells beside each other, as wide as said. */
export function columns(cells: (string | Terminal)[], widths: number[]): Terminal {
  const line = cells.map((cell, index) => padded(cell, widths[index] ?? 0).source).join("  ");
  return made(line.trimEnd());
}

/** Several lines of somebody else's, each marked as such. */
export function quoted(text: string): Terminal {
  return linesOf(text.split(/\r\n|\r|\n/).map((line) => terminal`  | ${line}`));
}

/** In colour, where the stream has any. */
export function paint(
  style: Style,
  text: string | Terminal,
  stream: NodeJS.WriteStream = process.stdout,
): Terminal {
  const { source } = ofText(text);
  return made(hasColour(stream) ? styleText(style, source, { validateStream: false }) : source);
}

function hasColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/** A long row of blanks would wrap what follows it to the start of a line. */
function ofText(value: string | number | Terminal): Terminal {
  if (value instanceof Terminal) return value;
  return made(plainText(String(value)).replaceAll(/[\s\u2800]{2,}/g, " "));
}
