// A ZIP that a notification service answers with (P2 §4.1, §4.2), read from the spool and within limits: its directory first, then
// each file piece by piece, so that reading stops early if the directory gives wrong sizes.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import yauzl from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import type { KeptFile } from "../http/exchange.js";

export interface ZippedFile {
  /** As the ZIP has it: no path to be trusted. */
  name: string;
  size: number;
  crc32: number;
  sha256: string;
  /** The first bytes, which show the format. */
  start: Buffer;
  /** Its bytes, for each call anew, as long as the ZIP is kept. */
  pieces(): AsyncIterable<Buffer>;
}

export interface ZipLimits {
  entries: number;
  totalBytes: number;
}

const LIMITS: ZipLimits = { entries: 500, totalBytes: 2 * 1024 * 1024 * 1024 };
/** The header of a PDF is within the first bytes. */
const START_BYTES = 1024;

/** Says in fixed words what is wrong with a ZIP. */
export class UnreadableZip extends Error {
  override readonly name = "UnreadableZip";
}

/**
 * Its files, without its folders. Reads the whole ZIP once, so that each returned file is known to be complete. Throws UnreadableZip if
 * the answer is no ZIP, or exceeds a limit.
 */
export async function readZip(kept: KeptFile, limits: ZipLimits = LIMITS): Promise<ZippedFile[]> {
  const zip = await opened(new KeptReader(kept), kept.size);
  const files: ZippedFile[] = [];
  for (const entry of await readDirectory(zip, limits))
    files.push({
      name: rawName(entry).toString("utf8"),
      size: entry.uncompressedSize,
      crc32: entry.crc32,
      ...(await contentOf(zip, entry)),
      pieces: () => piecesOf(zip, entry),
    });
  return files;
}

/** The last path segment, with nothing that a file system could take for a path; `otherwise` where nothing is left. */
export function safeFileName(name: string, otherwise: string): string {
  const segment = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const safe = segment
    .slice(-120)
    .replaceAll(/[^\w .()-]/g, "_")
    .trim()
    .replace(/^\.+/, "_");
  return safe === "" ? otherwise : safe;
}

interface OpenZip {
  zip: ZipFile;
  reader: KeptReader;
}

async function opened(reader: KeptReader, size: number): Promise<OpenZip> {
  const options = { autoClose: false, decodeStrings: false };
  const zip = await yauzl
    .fromRandomAccessReaderPromise(reader, size, options)
    .catch(reader.unreadable("the answer is no ZIP"));
  return { zip, reader };
}

async function readDirectory({ zip, reader }: OpenZip, limits: ZipLimits): Promise<Entry[]> {
  if (zip.entryCount > 2 * limits.entries) throw new UnreadableZip("the ZIP has too many files");
  const files: Entry[] = [];
  let totalBytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (rawName(entry).at(-1) === SLASH) continue;
      files.push(entry);
      totalBytes += entry.uncompressedSize;
    }
  } catch (error) {
    reader.unreadable("the ZIP is damaged")(error);
  }
  if (files.length > limits.entries) throw new UnreadableZip("the ZIP has too many files");
  if (totalBytes > limits.totalBytes) throw new UnreadableZip("the ZIP is too large when unpacked");
  return files;
}

const SLASH = "/".charCodeAt(0);

/** yauzl leaves it as bytes, because of `decodeStrings`. */
function rawName({ fileName }: Entry): Buffer {
  return fileName as unknown as Buffer;
}

async function contentOf(zip: OpenZip, entry: Entry): Promise<{ sha256: string; start: Buffer }> {
  const hash = createHash("sha256");
  let start = Buffer.alloc(0);
  for await (const piece of piecesOf(zip, entry)) {
    if (start.length < START_BYTES) start = Buffer.concat([start, piece.subarray(0, START_BYTES)]);
    hash.update(piece);
  }
  return { sha256: hash.digest("hex"), start };
}

/** At most as many bytes as the directory gives. */
async function* piecesOf({ zip, reader }: OpenZip, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  try {
    for await (const piece of await zip.openReadStreamPromise(entry)) {
      sum = crc32(piece as Buffer, sum);
      yield piece as Buffer;
    }
  } catch (error) {
    reader.unreadable("the ZIP is damaged, or disagrees with its directory")(error);
  }
  if (sum !== entry.crc32) throw new UnreadableZip("a file of the ZIP is damaged");
}

class KeptReader extends yauzl.RandomAccessReader {
  readonly #kept: KeptFile;
  #failure: unknown;

  constructor(kept: KeptFile) {
    super();
    this.#kept = kept;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#pieces(start, end), { objectMode: false });
  }

  /** Replaces an error of yauzl, which may quote the provider's bytes. If our own file is unreadable, the ZIP is not at fault. */
  unreadable(problem: string): (error: unknown) => never {
    return () => {
      throw this.#failure ?? new UnreadableZip(problem);
    };
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Buffer> {
    try {
      yield* this.#kept.pieces(start, end);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
