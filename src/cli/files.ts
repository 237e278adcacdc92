// Reads files and stdin for commands, with error messages that never quote the content.
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { open, readFile, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { problemsInWords } from "../contracts/shared/failures.js";
import { CommandError, exitCodes, usageError } from "./output/exit.js";

/** Enough to see the format of a file. */
const START_BYTES = 1024;

/** Reads a file; `-` is stdin. `field` names the source in an error. */
export async function readText(source: string, field: string): Promise<string> {
  const isStdin = source === "-";
  const bytes = await (isStdin
    ? buffer(process.stdin)
    : readFile(source).catch(cannotRead(source, field)));
  const refuse = (problem: string) => invalidInput([{ path: field, problem }]);
  if (bytes.length === 0) throw refuse(isStdin ? "stdin is empty" : "is empty");
  if (!isUtf8(bytes)) throw refuse("must be UTF-8, and looks like Windows-1252 or Latin-1");
  return bytes.toString();
}

/** A file of any size: its length, its first bytes, and a stream of its bytes for each call. */
export interface LargeFile {
  size: number;
  start: Buffer;
  pieces(): AsyncIterable<Buffer>;
}

export async function openLarge(path: string, field: string): Promise<LargeFile> {
  const refuse = cannotRead(path, field);
  const file = await open(path).catch(refuse);
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(START_BYTES);
    const { bytesRead } = await file.read(start, 0, START_BYTES, 0).catch(refuse);
    if (bytesRead === 0) throw invalidInput([{ path: field, problem: "is empty" }]);
    return { size, start: start.subarray(0, bytesRead), pieces: () => piecesOf(path) };
  } finally {
    await file.close();
  }
}

/** Opens the file at the first piece: an earlier error would have no listener, and would end the command. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path);
}

const writeProblems: Partial<Record<string, string>> = {
  ENOSPC: "no space left on the disk",
  EEXIST: "it is not a folder",
  ENOTDIR: "a part of the path is not a folder",
};

/** For a file or a folder of the caller's; `field` names its option. */
export function cannotWrite(path: string, field: string): (error: NodeJS.ErrnoException) => never {
  return ({ code, name }) => {
    const problem = writeProblems[code ?? ""] ?? code ?? name;
    throw usageError(`${field}: ${path} cannot be written (${problem})`);
  };
}

/** Writes a new file that only its owner can read. It never overwrites a file. */
export async function writePrivate(path: string, text: string, field: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: "wx" }).catch(
    ({ code = "", name }: NodeJS.ErrnoException) => {
      const problem =
        code === "EEXIST"
          ? "the file exists already and is not overwritten"
          : `cannot create the file (${code || name})`;
      throw invalidInput([{ path: field, problem }]);
    },
  );
}

const fileProblems: Partial<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  ERR_FS_FILE_TOO_LARGE: "it is over 2 GiB",
};

function cannotRead(path: string, field: string): (error: NodeJS.ErrnoException) => never {
  return ({ code = "", name }) => {
    const problem = `cannot read ${path}: ${fileProblems[code] ?? (code || name)}`;
    throw invalidInput([{ path: field, problem }]);
  };
}

/** Blanks in place of comments, which `trustflow example` prints: a line in an error stays the same. */
export function withoutComments(json: string): string {
  return json.replaceAll(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith("/") ? part.replaceAll(/[^\n]/g, " ") : part,
  );
}

/** Parses a JSON object; `name` names the text in an error. */
export function jsonObject(source: string, field: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(source.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The engine's own error message quotes the input, which is personal data.
    const at = / position (\d+)/.exec((error as Error).message)?.[1];
    const line =
      at === undefined ? "" : ` (line ${source.slice(0, Number(at)).split("\n").length})`;
    const named = name === "-" ? "stdin" : name;
    throw invalidInput([{ path: field, problem: `${named} is not JSON${line}` }]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput([{ path: field, problem: `${name} must hold a JSON object` }]);
  }
  return value as Record<string, unknown>;
}

export function invalidInput(fields: CommandError["fields"]): CommandError {
  return new CommandError(exitCodes.invalid, `Invalid input: ${problemsInWords(fields)}`, fields);
}
