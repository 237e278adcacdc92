// Saves a document in the caller's folder. The file gets its name only when it is complete, and never replaces another file.
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { cannotWrite } from "../files.js";
import { usageError } from "../output/exit.js";

export interface SavedFile {
  file: string;
  size: number;
  sha256: string;
}

export type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>;

const formats = [
  ["%PDF-", "pdf", "application/pdf"],
  ["PK\u0003\u0004", "zip", "application/zip"],
  ["<?xml", "xml", "application/xml"],
] as const;

/** What the first bytes do not show. */
const endings: Record<string, string> = {
  "application/json": "json",
  "application/x-ndjson": "jsonl",
  "text/csv": "csv",
  "text/html": "html",
  "text/plain": "txt",
};

/** Recognized by the first bytes. */
export function formatOf(start: Buffer): { ending: string; mediaType: string } | undefined {
  const found = formats.find(
    ([text]) => start.subarray(0, text.length).toString("latin1") === text,
  );
  return found && { ending: found[1], mediaType: found[2] };
}

/**
 * The file's name ends by its content, or else by its media type. An existing file is kept. Its content must be the same; with
 * `keepsBoth`, another one gets a name that ends with its digest.
 */
export async function saveDocument(
  folder: string,
  name: string,
  content: Pieces,
  { keepsBoth = false, mediaType = "" } = {},
): Promise<SavedFile> {
  await mkdir(folder, { recursive: true }).catch(cannotWrite(folder, "--out"));
  const unfinished = join(folder, `.${name}.${randomBytes(8).toString("hex")}`);
  const target = await open(unfinished, "wx", 0o600).catch(cannotWrite(folder, "--out"));
  try {
    const hash = createHash("sha256");
    let start: Buffer | undefined;
    let size = 0;
    try {
      for await (const piece of content) {
        start ??= piece;
        size += piece.length;
        hash.update(piece);
        await target.writeFile(piece).catch(cannotWrite(folder, "--out"));
      }
    } finally {
      await target.close();
    }
    const saved = { size, sha256: hash.digest("hex") };
    const ending = formatOf(start ?? Buffer.alloc(0))?.ending ?? endings[mediaType] ?? "bin";
    const names = keepsBoth ? [name, `${name}-${saved.sha256.slice(0, 16)}`] : [name];
    const files = names.map((one) => join(folder, `${one}.${ending}`));
    for (const file of files) if (await isSavedAs(file)) return { ...saved, file };
    throw usageError(`--out: ${files[0]} exists already with other content`);

    async function isSavedAs(file: string): Promise<boolean> {
      const problem = await link(unfinished, file).catch((error: NodeJS.ErrnoException) => error);
      if (problem === undefined) return true;
      if (problem.code !== "EEXIST") return cannotWrite(file, "--out")(problem);
      return (await sha256Of(file)) === saved.sha256;
    }
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest("hex");
}
