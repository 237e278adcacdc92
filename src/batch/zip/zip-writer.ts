// A ZIP that is written in parts: each part has whole files, stored and not compressed, and may be written long before the others. The
// directory comes last, and has ZIP64 records where there are many files or bytes (APPNOTE 6.3.4 §4.3, §4.5.3).
import type { Pieces } from "../../crypto/sealed-stream.js";

export interface StoredFile {
  /** Its path in the archive, with `/`. */
  name: string;
  size: number;
  crc32: number;
}

/** A file of a part. */
export interface ZipEntry extends StoredFile {
  /** Where its header begins in the part. */
  start: number;
}

export interface ZipPart {
  size: number;
  pieces(): Pieces;
  entries(): Promise<ZipEntry[]>;
}

const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
const VERSION = 20;
const VERSION_ZIP64 = 45;
/** Who made it: Info-ZIP reads the names of any other system in that one's letters. */
const UNIX = 3 << 8;
/** A plain file that its owner writes and all read. */
const UNIX_FILE = 0o100644 * 2 ** 16;
const UTF8_NAMES = 1 << 11;
const STORED = 0;
/** 1 January 1980, the earliest there is: when an archive is made is no fact about a file. */
const [DOS_TIME, DOS_DATE] = [0, 0x21];

/** Precedes the bytes of a file. Throws RangeError for one of 4 GB or more. */
export function fileHeader(file: StoredFile): Buffer {
  const name = Buffer.from(file.name);
  if (file.size >= MAX_32 || name.length > MAX_16)
    throw new RangeError("a file of a ZIP must have less than 4 GB");
  return Buffer.concat([u32(0x0403_4b50), u16(VERSION), common(file, name), u16(0), name]);
}

/** Puts the parts one after the other, and then the directory of all of them. */
export async function* zipOf(parts: readonly ZipPart[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* part.pieces();
  let start = 0;
  let [count, size] = [0, 0];
  for (const part of parts) {
    const entries = await part.entries();
    const directory = Buffer.concat(entries.map((entry) => directoryEntry(entry, start)));
    if (directory.length > 0) yield directory;
    count += entries.length;
    size += directory.length;
    start += part.size;
  }
  yield directoryEnd({ count, size, start });
}

function directoryEntry(entry: ZipEntry, partStart: number): Buffer {
  const name = Buffer.from(entry.name);
  const start = partStart + entry.start;
  const isFar = start >= MAX_32;
  const extra = isFar ? Buffer.concat([u16(1), u16(8), u64(start)]) : Buffer.alloc(0);
  const version = isFar ? VERSION_ZIP64 : VERSION;
  return Buffer.concat([
    u32(0x0201_4b50),
    u16(UNIX | version),
    u16(version),
    common(entry, name),
    u16(extra.length),
    // No comment, the first disk, no attributes of its own.
    Buffer.alloc(6),
    u32(UNIX_FILE),
    u32(Math.min(start, MAX_32)),
    name,
    extra,
  ]);
}

function directoryEnd({ count, size, start }: Record<"count" | "size" | "start", number>): Buffer {
  const isLarge = count >= MAX_16 || size >= MAX_32 || start >= MAX_32;
  const some = Math.min(count, MAX_16);
  const end = Buffer.concat([
    u32(0x0605_4b50),
    u32(0),
    u16(some),
    u16(some),
    u32(Math.min(size, MAX_32)),
    u32(Math.min(start, MAX_32)),
    u16(0),
  ]);
  return isLarge ? Buffer.concat([zip64End({ count, size, start }), end]) : end;
}

function zip64End({ count, size, start }: Record<"count" | "size" | "start", number>): Buffer {
  const record = Buffer.concat([
    u16(VERSION_ZIP64),
    u16(VERSION_ZIP64),
    u32(0),
    u32(0),
    u64(count),
    u64(count),
    u64(size),
    u64(start),
  ]);
  const locator = Buffer.concat([u32(0x0706_4b50), u32(0), u64(start + size), u32(1)]);
  return Buffer.concat([u32(0x0606_4b50), u64(record.length), record, locator]);
}

function common({ size, crc32 }: StoredFile, name: Buffer): Buffer {
  return Buffer.concat([
    u16(UTF8_NAMES),
    u16(STORED),
    u16(DOS_TIME),
    u16(DOS_DATE),
    u32(crc32),
    u32(size),
    u32(size),
    u16(name.length),
  ]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
