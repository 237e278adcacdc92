// The ZIP of affidavits comes from outside: limits, names, and only PDFs (P2 §4.1, §6.3).
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Zip, ZipDeflate, zipSync } from "fflate";
import type { Zippable } from "fflate";
import { readAffidavitZip } from "../../../src/providers/evi/affidavit-zip.js";
import { UnreadableZip } from "../../../src/providers/evi/zip.js";
import { keptOf, withBytes } from "../memory-keep.js";

const pdf = (text: string) => new Uint8Array(Buffer.from(`%PDF-1.4 ${text}`));
const zipOf = (files: Zippable) => Buffer.from(zipSync(files));

const read = async (zip: Buffer, ids: string[], ...rest: [typeof limits?]) =>
  withBytes(await readAffidavitZip(keptOf(zip), ids, ...rest));

const limits = { entries: 3, totalBytes: 100_000 };

test("a file belongs to the longest id that its name contains, in whatever case", async () => {
  const [long, short] = ["AB-12", "ab-1"];
  const zip = zipOf({
    "affidavit-ab-12.PDF": pdf("2"),
    "x/ab-1.pdf": pdf("1"),
    "other.pdf": pdf("0"),
  });
  expect(await read(zip, [short, long])).toEqual([
    { id: long, fileName: "affidavit-ab-12.PDF", bytes: Buffer.from(pdf("2")) },
    { id: short, fileName: "ab-1.pdf", bytes: Buffer.from(pdf("1")) },
    { fileName: "other.pdf", bytes: Buffer.from(pdf("0")) },
  ]);
});

test("a kept ZIP of ours that cannot be read is no damage of the provider's ZIP", async () => {
  const kept = keptOf(zipOf({ "a.pdf": pdf("a"), "b.pdf": pdf("b") }));
  const unreadable = Object.assign(new Error("cannot read"), { code: "EIO" });
  for (let last = 1; last <= 4; last += 1) {
    let reads = 0;
    const pieces = async function* (start?: number, end?: number) {
      if (++reads === last) throw unreadable;
      yield* kept.pieces(start, end);
    };
    await expect(readAffidavitZip({ ...kept, pieces }, [])).rejects.toBe(unreadable);
  }
});

test("two files of the same id both come", async () => {
  const id = randomUUID();
  const zip = zipOf({ [`${id}.pdf`]: pdf("a"), [`${id}-regenerated.pdf`]: pdf("b") });
  expect((await read(zip, [id])).map((file) => file.id)).toEqual([id, id]);
});

test("stored entries, folders and a ZIP written as a stream are read", async () => {
  const stored = zipOf({ "folder/": new Uint8Array(), "folder/a.pdf": [pdf("a"), { level: 0 }] });
  expect(await read(stored, [])).toEqual([{ fileName: "a.pdf", bytes: Buffer.from(pdf("a")) }]);
  expect(await read(streamed(), [])).toHaveLength(2);
});

test.each([
  ["../../etc/passwd", "passwd"],
  ["..\\..\\windows\\system.pdf", "system.pdf"],
  ["/absolute.pdf", "absolute.pdf"],
  ["C:evil.pdf", "C_evil.pdf"],
  ["a\u0000b\n.pdf", "a_b_.pdf"],
  ["..", "_"],
  [" .. ", "_"],
  [`x${" ".repeat(118)}. .`, "_ ."],
  [`${"x".repeat(300)}.pdf`, `${"x".repeat(116)}.pdf`],
])("the name %j becomes %j", async (name, expected) => {
  const files = await read(zipOf({ [name]: pdf("a"), "z.pdf": pdf("z") }), []);
  expect(files[0]?.fileName).toBe(expected);
});

test("what is not a PDF is refused, but beside the PDFs of known ids left out where no name claims it", async () => {
  const page = new Uint8Array(Buffer.from("<html>"));
  const beside = zipOf({ "a.pdf": pdf("a"), "readme.html": page });
  expect(await read(beside, ["id-1"])).toMatchObject([{ id: "id-1", fileName: "a.pdf" }]);
  await expect(read(beside, [])).rejects.toThrow(UnreadableZip);
  for (const name of ["b.pdf", "ID-1.html"])
    await expect(read(zipOf({ "a.pdf": pdf("a"), [name]: page }), ["id-1"])).rejects.toThrow(
      UnreadableZip,
    );
  await expect(read(zipOf({ "a.html": page }), ["id-1"])).rejects.toThrow(UnreadableZip);
});

test("too many files are refused", async () => {
  const files = ["1", "2", "3", "4"].map((name) => [`${name}.pdf`, pdf(name)] as const);
  await expect(read(zipOf(Object.fromEntries(files)), [], limits)).rejects.toThrow("too many");
});

test("a bomb is refused by its directory, before anything is unpacked", async () => {
  const bomb = zipOf({ "a.pdf": Buffer.concat([pdf(""), Buffer.alloc(50_000_000)]) });
  expect(bomb.length).toBeLessThan(60_000);
  await expect(read(bomb, [], limits)).rejects.toThrow("too large");
});

test("a bomb that lies about its size is refused while it is unpacked", async () => {
  const bomb = zipOf({ "a.pdf": Buffer.concat([pdf(""), Buffer.alloc(50_000_000)]) });
  for (const signature of [0x04034b50, 0x02014b50]) {
    const at = bomb.indexOf(Buffer.from(Uint32Array.of(signature).buffer));
    bomb.writeUInt32LE(1000, at + (signature === 0x04034b50 ? 22 : 24));
  }
  await expect(read(bomb, [], limits)).rejects.toThrow("disagrees");
});

test("sizes that disagree with the directory are refused", async () => {
  const zip = zipOf({ "a.pdf": pdf("a".repeat(500)) });
  const at = zip.indexOf(Buffer.from(Uint32Array.of(0x02014b50).buffer));
  zip.writeUInt32LE(7, at + 24);
  await expect(read(zip, [], limits)).rejects.toThrow(UnreadableZip);
});

test("a stored file whose bytes changed is refused by its checksum", async () => {
  const zip = zipOf({ "a.pdf": [pdf("a".repeat(500)), { level: 0 }] });
  zip[zip.indexOf("aaaa") + 100]! ^= 1;
  await expect(read(zip, [])).rejects.toThrow("a file of the ZIP is damaged");
});

test("a damaged, cut or foreign file is refused", async () => {
  const zip = zipOf({ "a.pdf": pdf("a".repeat(5000)) });
  const broken = Buffer.from(zip).fill(0xff, 40, 60);
  for (const bytes of [
    broken,
    zip.subarray(0, 50),
    Buffer.from("<html>"),
    Buffer.from("PK\u0003\u0004"),
  ])
    await expect(read(bytes, [], limits)).rejects.toThrow(UnreadableZip);
});

function streamed(): Buffer {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((_, piece) => void pieces.push(piece));
  for (const name of ["a.pdf", "b.pdf"]) {
    const file = new ZipDeflate(name);
    zip.add(file);
    file.push(pdf(name), true);
  }
  zip.end();
  return Buffer.concat(pieces);
}
