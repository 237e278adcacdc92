// The commands that a page shows, in their order, and what they print there.
//
//   ```sh            commands, one after the other; a here-document and a line that ends with \ belong to one command
//   ```sh elsewhere  commands that cannot run on this machine; each stands in exceptions.ts with its reason
//   ```              the first block without a language after them, under the same heading: what they print, all together
//
// A command that ends with another exit code than 0 says so in a comment: `# ends with 5`. In what is printed, … stands for any
// text within a line, and alone on a line for any lines.
import { stripVTControlCharacters } from "node:util";
import { textOf } from "./repository.js";

export interface ShownCommand {
  line: number;
  text: string;
  exitCode: number;
}

export interface ShellBlock {
  commands: ShownCommand[];
  isElsewhere: boolean;
  /** Absent where the page does not show it. */
  output?: string;
}

export function shellBlocks(page: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let awaiting: ShellBlock | undefined;
  for (const { info, start, body, isHeading } of partsOf(textOf(page))) {
    const [language = "", ...marks] = info.split(" ");
    if (isHeading) awaiting = undefined;
    else if (language === "sh") {
      awaiting = { commands: commandsOf(body, start), isElsewhere: marks.includes("elsewhere") };
      blocks.push(awaiting);
    } else if (language === "" && awaiting) {
      awaiting.output = body.join("\n");
      awaiting = undefined;
    }
  }
  return blocks;
}

interface Part {
  info: string;
  /** The number of its first line. */
  start: number;
  body: string[];
  isHeading: boolean;
}

/** Fenced blocks and headings. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let open: Part | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const info = /^```(.*)$/.exec(line)?.[1];
    if (open && info !== undefined) {
      parts.push(open);
      open = undefined;
    } else if (open) open.body.push(line);
    else if (info !== undefined) open = { info, start: index + 2, body: [], isHeading: false };
    else if (line.startsWith("#"))
      parts.push({ info: "", start: index, body: [], isHeading: true });
  }
  return parts;
}

function commandsOf(lines: string[], start: number): ShownCommand[] {
  const commands: ShownCommand[] = [];
  let text = "";
  let line = start;
  let end: string | undefined;
  for (const [index, shown] of lines.entries()) {
    if (text === "") {
      if (shown.trim() === "" || shown.trim().startsWith("#")) continue;
      line = start + index;
      end = /<<-?\s*'?(\w+)'?/.exec(shown)?.[1];
      text = shown;
    } else text += `\n${shown}`;
    const isWhole = end === undefined ? !shown.endsWith("\\") : shown === end;
    if (!isWhole) continue;
    commands.push({ line, text, exitCode: Number(/# ends with (\d+)/.exec(text)?.[1] ?? 0) });
    text = "";
  }
  if (text !== "") throw new Error(`line ${line}: the command is not whole`);
  return commands;
}

/** As exceptions.ts names it: without its comment, and however wide its gaps are. */
export function nameOf({ text }: Pick<ShownCommand, "text">): string {
  return text
    .replace(/\s+# .*$/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Why the output is not the shown one; undefined if it is. */
export function difference(shown: string, output: string): string | undefined {
  const given = `${output.split("\n").map(plain).join("\n").trim()}\n`;
  return patternOf(shown).test(given)
    ? undefined
    : `the page shows\n${shown}\n\nbut it prints\n${given}`;
}

/** Without colours, and however wide a table's columns are. */
function plain(line: string): string {
  return stripVTControlCharacters(line).replaceAll(/\s+/g, " ").trimEnd();
}

function patternOf(shown: string): RegExp {
  const lines = shown
    .trim()
    .split("\n")
    .map((line) => {
      if (line.trim() === "…") return String.raw`(?:.*\n)*?`;
      const parts = plain(line).split("…");
      return `${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join(".*?")}\\n`;
    });
  return new RegExp(`^${lines.join("")}$`);
}
