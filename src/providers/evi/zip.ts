// A ZIP that a notification service answers with (P2 §4.1, §4.2), read behind limits: the directory is checked first, then
// the content is inflated piece by piece, so that one that lies about its sizes stops early.
import { Unzip, UnzipInflate, unzipSync } from "fflate";

export interface ZippedFile {
  /** As the ZIP has it: no path to be trusted. */
  name: string;
  bytes: Buffer;
}

export interface ZipLimits {
  entries: number;
  totalBytes: number;
}

export const zipLimits: ZipLimits = { entries: 500, totalBytes: 256 * 1024 * 1024 };
const PIECE_BYTES = 64 * 1024;

/** What is wrong with a ZIP, in fixed words. */
export class UnreadableZip extends Error {
  override readonly name = "UnreadableZip";
}

/** Its files, without its folders. Throws UnreadableZip for what is no ZIP, or passes a limit. */
export function readZip(zip: Buffer, limits: ZipLimits = zipLimits): ZippedFile[] {
  const directory = readDirectory(zip, limits);
  const files = inflate(zip, limits).filter(({ name }) => !name.endsWith("/"));
  const agrees = files.length === directory.entries && sizeOf(files) === directory.totalBytes;
  if (!agrees) throw new UnreadableZip("the ZIP disagrees with its directory");
  return files;
}

/** The last path segment, with nothing that a file system could take for a path; `otherwise` where nothing is left. */
export function safeFileName(name: string, otherwise: string): string {
  const segment = name.split(/[/\\]/).at(-1) ?? "";
  const safe = segment
    .replaceAll(/[^\w .()-]/g, "_")
    .replace(/^\.+/, "_")
    .slice(-120)
    .trim();
  return safe === "" ? otherwise : safe;
}

function readDirectory(zip: Buffer, limits: ZipLimits): { entries: number; totalBytes: number } {
  let [entries, totalBytes] = [0, 0];
  try {
    unzipSync(zip, {
      filter: ({ name, originalSize }) => {
        if (!name.endsWith("/")) [entries, totalBytes] = [entries + 1, totalBytes + originalSize];
        return false;
      },
    });
  } catch {
    throw new UnreadableZip("the answer is no ZIP");
  }
  if (entries > limits.entries) throw new UnreadableZip("the ZIP has too many files");
  if (totalBytes > limits.totalBytes) throw new UnreadableZip("the ZIP is too large when unpacked");
  return { entries, totalBytes };
}

function inflate(zip: Buffer, limits: ZipLimits): { name: string; bytes: Buffer }[] {
  const files: { name: string; pieces: Uint8Array[]; done: boolean }[] = [];
  let totalBytes = 0;
  let failed = false;
  const reader = new Unzip((entry) => {
    const file = { name: entry.name, pieces: [] as Uint8Array[], done: false };
    files.push(file);
    entry.ondata = (error, piece, final) => {
      failed ||= error !== null;
      if (error !== null) return;
      totalBytes += piece.length;
      if (totalBytes <= limits.totalBytes) file.pieces.push(piece);
      file.done = final;
    };
    entry.start();
  });
  reader.register(UnzipInflate);
  for (let start = 0; start < zip.length && !failed; start += PIECE_BYTES) {
    const end = start + PIECE_BYTES;
    try {
      reader.push(zip.subarray(start, end), end >= zip.length);
    } catch {
      failed = true;
    }
    if (totalBytes > limits.totalBytes)
      throw new UnreadableZip("the ZIP is too large when unpacked");
    if (files.length > 2 * limits.entries) throw new UnreadableZip("the ZIP has too many files");
  }
  if (failed || files.some(({ done }) => !done)) throw new UnreadableZip("the ZIP is damaged");
  return files.map(({ name, pieces }) => ({ name, bytes: Buffer.concat(pieces) }));
}

function sizeOf(files: { bytes: Buffer }[]): number {
  return files.reduce((total, { bytes }) => total + bytes.length, 0);
}
