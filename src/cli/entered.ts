// Reads secrets that a person enters: hidden lines on a terminal, or stdin without a terminal.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { readText } from "./files.js";
import { writeNote } from "./output/output.js";
import { terminal } from "./output/terminal.js";

/** Yields the entered lines; on a terminal the prompt comes before each line. Ends at the end of stdin, or with the signal. */
export async function* enteredLines(prompt: string, signal?: AbortSignal): AsyncGenerator<string> {
  if (signal?.aborted) return;
  const { stdin } = process;
  const isTerminal = stdin.isTTY;
  const lines = createInterface({
    input: stdin,
    // On a terminal readline would show what is typed.
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: isTerminal,
    historySize: 0,
    ...(signal && { signal }),
  });
  lines.on("SIGINT", () => {
    lines.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    if (isTerminal) writeNote(terminal`${prompt}`);
    for await (const line of lines) {
      yield line.trim();
      if (isTerminal) writeNote(terminal`${prompt}`);
    }
  } finally {
    lines.close();
  }
}

/** The first line, or an empty string. */
export async function enteredLine(prompt: string): Promise<string> {
  for await (const line of enteredLines(prompt)) return line;
  return "";
}

/**
 * On a terminal, reads lines until they form a JSON text, because pasted JSON can have several lines; otherwise reads all of
 * stdin.
 */
export async function enteredJson(prompt: string, field: string): Promise<string> {
  if (!process.stdin.isTTY) return readText("-", field);
  let text = "";
  for await (const line of enteredLines(`${prompt} (not shown; an empty line ends it):`)) {
    text += `${line}\n`;
    if (line === "" || isJson(text)) break;
  }
  return text;
}

/** Warns that an argument on the command line is visible to others. */
export function noteVisible(what: string, instead: string): void {
  writeNote(
    terminal`${what} was on the command line: other users of this machine can see it there, and the shell's history keeps it. Next time ${instead}.`,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
