// `send-postal --input FILE`: reads it, checks it against the contract, and puts `{ "path": … }` into the store.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fieldProblems } from "../contracts/problems.js";
import { BusinessId, type DocumentReference } from "../contracts/values.js";
import { SendPostalInput } from "../contracts/send-postal.js";
import { CommandError, exitCodes } from "./exit.js";

type Fields = CommandError["fields"];

export interface ReadInput {
  /** With a stand-in where the document is a file that is not stored yet. */
  checked: SendPostalInput;
  file?: { bytes: Buffer; mediaType: string };
}

/** `-` is stdin; a document's path is relative to the file (of stdin: to the working directory). */
export async function readPostalInput(source: string, id: string): Promise<ReadInput> {
  const json = parse(
    source === "-" ? await text(process.stdin) : await read(source, "--input"),
    source,
  );
  const folder = source === "-" ? process.cwd() : dirname(resolve(source));
  const file = await documentFile(json["document"], folder);
  const given = file ? { ...json, document: standIn(file) } : json;
  const input = SendPostalInput.safeParse(given);
  const fields: Fields = [
    ...fieldProblems(BusinessId.safeParse(id).error, ["id"]),
    ...fieldProblems(input.error),
  ];
  if (file && !file.bytes.subarray(0, 5).equals(Buffer.from("%PDF-"))) {
    fields.push({ path: "document.path", problem: "is not a PDF (P2 §2.1)" });
  }
  if (fields.length > 0 || input.data === undefined) throw invalid(fields);
  return { checked: input.data, ...(file && { file }) };
}

async function documentFile(document: unknown, folder: string): Promise<ReadInput["file"]> {
  if (typeof document !== "object" || document === null || !("path" in document)) return undefined;
  const { path, mediaType = "application/pdf", ...more } = document as Record<string, unknown>;
  const fields: Fields = Object.keys(more).map((key) => ({
    path: `document.${key}`,
    problem: "is not known beside document.path",
  }));
  if (typeof path !== "string") fields.push({ path: "document.path", problem: "must be a string" });
  if (typeof mediaType !== "string")
    fields.push({ path: "document.mediaType", problem: "must be a string" });
  if (fields.length > 0) throw invalid(fields);
  const bytes = await readBytes(resolve(folder, String(path)), "document.path");
  return { bytes, mediaType: String(mediaType) };
}

// What the document will look like once it is stored; the contract looks at no more than this.
function standIn({ bytes, mediaType }: NonNullable<ReadInput["file"]>): DocumentReference {
  return {
    uri: `document:${"0".repeat(32)}`,
    sha256: "0".repeat(64),
    size: bytes.length,
    mediaType,
  };
}

async function read(path: string, field: string): Promise<string> {
  return (await readBytes(path, field)).toString("utf8");
}

async function readBytes(path: string, field: string): Promise<Buffer> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw invalid([{ path: field, problem: `cannot be read (${error.code ?? error.name})` }]);
  });
  if (bytes.length === 0) throw invalid([{ path: field, problem: "is empty" }]);
  return bytes;
}

// The engine's own message quotes the input, which is personal data.
function parse(source: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    const at = / position (\d+)/.exec((error as Error).message)?.[1];
    const line =
      at === undefined ? "" : ` (line ${source.slice(0, Number(at)).split("\n").length})`;
    throw invalid([{ path: "--input", problem: `${name} is not JSON${line}` }]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([{ path: "--input", problem: `${name} must hold a JSON object` }]);
  }
  return value as Record<string, unknown>;
}

function invalid(fields: Fields): CommandError {
  const words = fields.map(({ path, problem }) => `${path}: ${problem}`);
  return new CommandError(exitCodes.invalid, `Invalid input: ${words.join("; ")}`, fields);
}
