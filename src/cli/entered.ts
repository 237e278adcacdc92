// What a person enters and nobody else may see: a line that is not shown on a terminal, and stdin elsewhere.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { readText } from "./files.js";
import { writeNote } from "./output/output.js";
import { terminal } from "./output/terminal.js";

/** The lines that are entered, on a terminal each after the prompt; ends at the end of stdin, or with the signal. */
export async function* enteredLines(prompt: string, signal?: AbortSignal): AsyncGenerator<string> {
  if (signal?.aborted) return;
  const { stdin } = process;
  const isTerminal = stdin.isTTY;
  const lines = createInterface({
    input: stdin,
    // On a terminal readline itself writes what is typed.
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

/** The first line; empty where there is none. */
export async function enteredLine(prompt: string): Promise<string> {
  for await (const line of enteredLines(prompt)) return line;
  return "";
}

/** On a terminal the lines up to the end of a JSON text, as one that is pasted has several; elsewhere all of stdin. */
export async function enteredJson(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return readText("-", "stdin");
  let text = "";
  for await (const line of enteredLines(`${prompt} (not shown; an empty line ends it):`)) {
    text += `${line}\n`;
    if (line === "" || isJson(text)) break;
  }
  return text;
}

/** Says what a secret argument gives away. */
export function noteVisible(what: string, instead: string): void {
  writeNote(
    terminal`${what} was on the command line: other users of this machine could see it, and the shell's history keeps it. Next time ${instead}.`,
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
