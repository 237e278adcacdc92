// Fits lines into the width of a terminal. Nothing is cut: a word, such as an id, stays whole, and so does a command to copy; where it is
// longer than the terminal is wide, the terminal itself wraps it, and copies it as one.
import { stripVTControlCharacters } from "node:util";

/** A command that ends a line, a command in quotes, or a word; with the blanks before it. */
const pieces = /(\s*)((?<=: )trustflow .*$|`[^`]*`\S*|"trustflow [^"]*"\S*|\S+)/g;

/** A line of a callback's body: what begins with `|` is from outside, and nothing else is (docs/design.md §9). */
const isBody = /^ {2}\| /;

/** The stream's width where it is a terminal; elsewhere there is no limit. */
export function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? columns : Infinity;
}

/** The lines go on below their own text: after the name of a fact, or two blanks further in. */
export function wrapped(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => wrappedLine(line, width))
    .join("\n");
}

function wrappedLine(line: string, width: number): string {
  if (shownLength(line) <= width || isBody.test(line)) return line;
  const indent = " ".repeat(indentOf(stripVTControlCharacters(line), width));
  const lines: string[] = [];
  let current = "";
  for (const [, blanks = "", piece = ""] of line.matchAll(pieces)) {
    const longer = current + blanks + piece;
    if (current.trim() === "" || shownLength(longer) <= width) current = longer;
    else {
      lines.push(current);
      current = indent + piece;
    }
  }
  return [...lines, current].join("\n");
}

/** Text from outside has no two blanks one after the other, so these are ours and end a column. */
function indentOf(line: string, width: number): number {
  const columns = [...line.matchAll(/(?<=\S) {2,}/g)].map(
    ({ index, 0: gap }) => index + gap.length,
  );
  const leading = line.length - line.trimStart().length;
  return columns.findLast((column) => column <= width / 2) ?? leading + 2;
}

/** Without what sets colours. */
function shownLength(line: string): number {
  return stripVTControlCharacters(line).length;
}

/** A command line of a help in lines of a shell, each of which but the last goes on after a backslash. */
export function continued(command: string, width: number): string {
  const lines: string[] = [];
  let current = "";
  for (const [word] of command.matchAll(/(?:"[^"]*"|\S)+/g)) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (longer.length <= width - 2 || current === "") current = longer;
    else {
      lines.push(`${current} \\`);
      current = `    ${word}`;
    }
  }
  return [...lines, current].join("\n");
}
