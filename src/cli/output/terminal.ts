// Text that is safe to print on a terminal. Only the template `terminal` creates it. Each value becomes one plain line: it
// cannot move the cursor, set a colour or start a new line. The functions of output.ts that print accept nothing else.
import { styleText } from "node:util";
import { plainText } from "../../contracts/shared/text.js";
import { wrapped } from "./wrap.js";

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

/**
 * The literal parts of the template may have line breaks; the values become plain text, except for a `Terminal`, which stays
 * unchanged.
 */
export function terminal(
  strings: TemplateStringsArray,
  ...values: (string | number | Terminal)[]
): Terminal {
  return made(String.raw({ raw: strings }, ...values.map((value) => ofText(value).source)));
}

export function linesOf(lines: Terminal[]): Terminal {
  return made(lines.map(({ source }) => source).join("\n"));
}

/** Fits it into a terminal of this width. What goes on in a further line is indented, so it cannot look like a line of its own. */
export function fitted({ source }: Terminal, width: number): Terminal {
  return made(wrapped(source, width));
}

/** Pads plain text with blanks up to the width; colour codes would count as characters. */
export function padded(text: string | Terminal, width: number): Terminal {
  return made(ofText(text).source.padEnd(width));
}

/** Joins cells into one row with the given widths. */
export function columns(cells: (string | Terminal)[], widths: number[]): Terminal {
  const line = cells.map((cell, index) => padded(cell, widths[index] ?? 0).source).join("  ");
  return made(line.trimEnd());
}

/** Text from outside with several lines, each with a `|` in front. */
export function quoted(text: string): Terminal {
  return linesOf(text.split(/\r\n|\r|\n/).map((line) => terminal`  | ${line}`));
}

/** Adds a colour, if the stream shows colours. */
export function paint(
  style: Style,
  text: string | Terminal,
  stream: NodeJS.WriteStream = process.stdout,
): Terminal {
  const { source } = ofText(text);
  return made(hasColour(stream) ? styleText(style, source, { validateStream: false }) : source);
}

function hasColour(stream: NodeJS.WriteStream): boolean {
  return isLive(stream) && !process.env["NO_COLOR"];
}

/** Whether it shows colours and lets a line be rewritten. */
export function isLive({ isTTY }: NodeJS.WriteStream): boolean {
  return isTTY && process.env["TERM"] !== "dumb";
}

/** A long run of blanks could move the text after it to the start of a line. */
function ofText(value: string | number | Terminal): Terminal {
  if (value instanceof Terminal) return value;
  return made(plainText(String(value)).replaceAll(/[\s\u2800]{2,}/g, " "));
}
