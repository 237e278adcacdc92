// What a command reads from a file or from stdin, and how it says that this cannot be used; it never quotes what it read.
import { readFile, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CommandError, exitCodes } from "./output/exit.js";

/** `-` is stdin; `field` is what the caller calls the source. */
export async function readText(source: string, field: string): Promise<string> {
  return source === "-" ? text(process.stdin) : (await readBytes(source, field)).toString("utf8");
}

export async function readBytes(path: string, field: string): Promise<Buffer> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw invalidInput([{ path: field, problem: fileProblem(error) }]);
  });
  if (bytes.length === 0) throw invalidInput([{ path: field, problem: "is empty" }]);
  return bytes;
}

/** A new file that only its owner may read; one that is there is never overwritten. */
export async function writePrivate(path: string, text: string, field: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw invalidInput([{ path: field, problem: writeProblem(error) }]);
  });
}

function writeProblem({ code = "", name }: NodeJS.ErrnoException): string {
  return code === "EEXIST"
    ? "names a file that is there already; it is not overwritten"
    : `names a file that cannot be made (${code || name})`;
}

const fileProblems: Partial<Record<string, string>> = {
  ENOENT: "names a file that does not exist",
  EISDIR: "names a folder, not a file",
  EACCES: "names a file that may not be read by this user",
};

function fileProblem({ code = "", name }: NodeJS.ErrnoException): string {
  return fileProblems[code] ?? `names a file that cannot be read (${code || name})`;
}

/** `name` stands for the text in the message. */
export function jsonObject(source: string, field: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    // The engine's own message quotes the input, which is personal data.
    const at = / position (\d+)/.exec((error as Error).message)?.[1];
    const line =
      at === undefined ? "" : ` (line ${source.slice(0, Number(at)).split("\n").length})`;
    throw invalidInput([{ path: field, problem: `${name} is not JSON${line}` }]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput([{ path: field, problem: `${name} must hold a JSON object` }]);
  }
  return value as Record<string, unknown>;
}

export function invalidInput(fields: CommandError["fields"]): CommandError {
  const words = fields.map(({ path, problem }) => `${path}: ${problem}`);
  return new CommandError(exitCodes.invalid, `Invalid input: ${words.join("; ")}`, fields);
}
