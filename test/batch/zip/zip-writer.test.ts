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

test("more files than 65,535", async () => {
  const files = Array.from({ length: 70_000 }, (_, number) => content(`${number}.pdf`));
  const zip = await buffer(zipOf([partOf(files.slice(0, 9)), partOf(files.slice(9))]));
  // Tens of thousands of turns of the event loop take minutes in a shared process: this reader needs none.
  const found = Object.entries(unzipSync(zip));
  expect(found).toHaveLength(70_000);
  const [name = "", bytes] = found.at(-1) ?? [];
  expect(Buffer.from(bytes ?? []).equals(content(name).bytes)).toBe(true);
});

test("more bytes than 4 GB", async () => {
  const parts = [partOf([content("first")], 5_000_000_000), partOf([content("last")])];
  const found = await read(await sparse(parts));
  expect([...found.values()]).toEqual([content("first").bytes, content("last").bytes]);
});

test("a file of 4 GB is refused", () => {
  const file = { name: "x", size: 2 ** 32, crc32: 0 };
  expect(() => fileHeader(file)).toThrow("less than 4 GB");
});
