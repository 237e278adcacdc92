// A ZIP written in parts is read by another implementation, with more files and more bytes than a ZIP without ZIP64 can have.
import { expect, test } from "vitest";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { unzipSync } from "fflate";
import yauzl from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import { fileHeader, zipOf } from "../../../src/batch/zip/zip-writer.js";
import type { ZipEntry, ZipPart } from "../../../src/batch/zip/zip-writer.js";

interface Content {
  name: string;
  bytes: Buffer;
}

function partOf(files: Content[], padding = 0): ZipPart {
  const entries: ZipEntry[] = [];
  const pieces: Buffer[] = [];
  let start = 0;
  for (const { name, bytes } of files) {
    const file = { name, size: bytes.length, crc32: crc32(bytes) };
    entries.push({ ...file, start });
    for (const piece of [fileHeader(file), bytes]) {
      pieces.push(piece);
      start += piece.length;
    }
  }
  return { size: start + padding, pieces: () => pieces, entries: async () => entries };
}

/** The bytes of an archive of which a gap, that no file is in, is not kept in memory. */
class Sparse extends yauzl.RandomAccessReader {
  readonly #pieces: { start: number; bytes: Buffer }[] = [];
  size = 0;

  add(bytes: Buffer): void {
    this.#pieces.push({ start: this.size, bytes });
    this.size += bytes.length;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#between(start, end), { objectMode: false });
  }

  *#between(start: number, end: number): Generator<Buffer> {
    let [low, high] = [0, this.#pieces.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#pieces[middle]!.start <= start) low = middle;
      else high = middle;
    }
    let from = start;
    for (let index = low; index < this.#pieces.length; index += 1) {
      const { start: at, bytes } = this.#pieces[index]!;
      if (at >= end) break;
      if (at > from) yield Buffer.alloc(at - from);
      from = Math.max(from, at);
      const piece = bytes.subarray(from - at, end - at);
      yield piece;
      from += piece.length;
    }
    if (from < end) yield Buffer.alloc(end - from);
  }
}

async function sparse(parts: ZipPart[]): Promise<Sparse> {
  const file = new Sparse();
  const gaps = parts.map((part) => ({
    ...part,
    async *pieces() {
      let size = 0;
      for await (const piece of part.pieces()) {
        size += piece.length;
        yield piece;
      }
      file.size += part.size - size;
    },
  }));
  for await (const piece of zipOf(gaps)) file.add(Buffer.from(piece));
  return file;
}

/** The names in the directory, with the content of each. */
async function read(file: Sparse): Promise<Map<string, Buffer>> {
  const zip = await yauzl.fromRandomAccessReaderPromise(file, file.size, { autoClose: false });
  const found = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) found.set(entry.fileName, await contentOf(zip, entry));
  return found;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const bytes = await buffer(await zip.openReadStreamPromise(entry));
  expect(crc32(bytes)).toBe(entry.crc32);
  return bytes;
}

const content = (name: string): Content => ({ name, bytes: Buffer.from(`content of ${name}`) });

test("the files of all parts are read back", async () => {
  const files = ["1-a/ñandú.pdf", "2-b/x.pdf", "3-c/x.pdf"].map(content);
  const parts = [partOf(files.slice(0, 2)), partOf([]), partOf(files.slice(2))];
  const found = await read(await sparse(parts));
  expect([...found]).toEqual(files.map(({ name, bytes }) => [name, bytes]));
});

test("an archive without files is a ZIP", async () => {
  expect((await read(await sparse([]))).size).toBe(0);
});

test("more bytes than 4 GB", async () => {
  const parts = [partOf([content("first")], 5_000_000_000), partOf([content("last")])];
  const found = await read(await sparse(parts));
  expect([...found.values()]).toEqual([content("first").bytes, content("last").bytes]);
});

/** The records of an archive whose only file is `é` with the bytes "abc", behind a gap before or after it. */
async function recordsOf(before: number, after: number): Promise<string[]> {
  const parts = [partOf([], before), partOf([{ name: "é", bytes: Buffer.from("abc") }], after)];
  const records: string[] = [];
  for await (const piece of zipOf(parts)) records.push(Buffer.from(piece).toString("hex"));
  return records;
}

test("each record has the fields of APPNOTE 6.3.4, and those of ZIP64 only where they are needed", async () => {
  // Flags, method, time, date, checksum, two sizes and the length of the name: the same in the header and in the directory.
  const common = "0008 0000 0000 2100 c2412435 03000000 03000000 0200";
  const header = `504b0304 1400 ${common} 0000 c3a9`;
  const entry = (version: string, extra: string, start: string, far = "") =>
    `504b0102 ${version}03 ${version}00 ${common} ${extra} 0000 0000 0000 0000a481 ${start} c3a9 ${far}`;
  const end = (size: string, start: string) => `504b0506 0000 0000 0100 0100 ${size} ${start} 0000`;
  const end64 = (size: string, start: string, place: string) =>
    "504b0606 2c00000000000000 2d00 2d00 00000000 00000000 0100000000000000 0100000000000000 " +
    `${size}00000000 ${start} 504b0607 00000000 ${place} 01000000 `;
  const records = (...expected: string[]) =>
    [header, "616263", ...expected].map((record) => record.replaceAll(" ", ""));
  expect(await recordsOf(0, 0)).toEqual(
    records(entry("14", "0000", "00000000"), end("30000000", "23000000")),
  );
  // The directory begins at 0xfffffffe, then at 0xffffffff, which says that the place is in the record of ZIP64.
  expect(await recordsOf(0, 0xffff_fffe - 35)).toEqual(
    records(entry("14", "0000", "00000000"), end("30000000", "feffffff")),
  );
  expect(await recordsOf(0, 0xffff_ffff - 35)).toEqual(
    records(
      entry("14", "0000", "00000000"),
      end64("30000000", "ffffffff00000000", "2f00000001000000") + end("30000000", "ffffffff"),
    ),
  );
  // The same of the place of the file.
  expect((await recordsOf(0xffff_fffe, 0))[2]).toBe(records(entry("14", "0000", "feffffff"))[2]);
  expect(await recordsOf(0xffff_ffff, 0)).toEqual(
    records(
      entry("2d", "0c00", "ffffffff", "0100 0800 ffffffff00000000"),
      end64("3c000000", "2200000001000000", "5e00000001000000") + end("3c000000", "ffffffff"),
    ),
  );
});

test.each([
  ["a size of 4 GB", { name: "x", size: 0xffff_ffff }, { name: "x", size: 0xffff_fffe }],
  ["a name of 64 KB", { name: "x".repeat(65_536), size: 0 }, { name: "x".repeat(65_535), size: 0 }],
])("a file with %s is refused, and one that is less by one is taken", (_, refused, taken) => {
  expect(() => fileHeader({ ...refused, crc32: 0 })).toThrow(
    new RangeError("a file of a ZIP must have less than 4 GB"),
  );
  expect(fileHeader({ ...taken, crc32: 0 })).toHaveLength(30 + taken.name.length);
});

test.each([65_534, 65_535])("an archive of %d files", async (number) => {
  // They share their bytes, as each file more would take time. Of those tens of thousands of turns of the event loop take minutes in a
  // shared process: this reader needs none.
  const { size, pieces, entries } = partOf([content("first")]);
  const [first] = await entries();
  const all = Array.from({ length: number }, (_, index) => ({ ...first!, name: `${index}.pdf` }));
  const zip = await buffer(zipOf([{ size, pieces, entries: async () => all }]));
  const found = Object.entries(unzipSync(zip));
  expect(found).toHaveLength(number);
  const [name, bytes] = found.at(-1) ?? [];
  expect(name).toBe(`${number - 1}.pdf`);
  expect(Buffer.from(bytes ?? [])).toEqual(content("first").bytes);
  expect(zip.includes(Buffer.from("504b0606", "hex"))).toBe(number === 65_535);
});
