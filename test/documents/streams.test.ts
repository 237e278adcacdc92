// Documents of any size: a stored document is read as it was written, a changed one is refused, and a writer or reader that stops or
// fails leaves nothing behind.
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, vi, test } from "vitest";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import {
  DocumentConflictError,
  DocumentCorruptError,
  DocumentErasedError,
  DocumentNotFoundError,
  DocumentStoreFullError,
} from "../../src/errors/index.js";
import { temporaryFolder } from "../harness/temporary.js";

const id = "00112233445566778899aabbccddeeff";
const owner = { namespace: "default", workflowId: "order-7" };
const CHUNK = 65_536;
const SEALED_CHUNK = CHUNK + 16;
/** Of a document that the ring seals, with the key id "k1". */
const HEADER = 2 + 2 + 4 + 32 + 7;
const ring = KeyRing.parse(`k1:${randomBytes(32).toString("base64")}`);
let root: string;
let store: DocumentStore;

beforeEach(async () => {
  root = await temporaryFolder();
  store = new DocumentStore(new DirectoryDriver(root), ring);
});

const file = (name: string): string => join(root, name.slice(0, 2), name);
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const names = async () =>
  (await readdir(root, { recursive: true })).filter((name) => name !== "00");

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(document: { uri: string; sha256?: string; size?: number }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of store.openRead(document)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The methods of all open files. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open(root);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

/** How many bytes a reader got before the error. */
async function got(document: { uri: string; sha256?: string; size?: number }) {
  let bytes = 0;
  try {
    for await (const piece of store.openRead(document)) bytes += piece.length;
  } catch (error) {
    return { bytes, error: (error as Error).name };
  }
  return { bytes, error: undefined };
}

test.each([1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 1])(
  "a document of %i bytes goes in and comes out in pieces, and as a whole",
  async (size) => {
    const bytes = randomBytes(size);
    const reference = await store.putStream(inPieces(bytes, 10_007), "application/zip", { id });
    expect(reference).toEqual({
      uri: `document:${id}`,
      sha256: sha256(bytes),
      size,
      mediaType: "application/zip",
    });
    expect((await read(reference)).equals(bytes)).toBe(true);
    expect((await store.get(reference)).equals(bytes)).toBe(true);
    expect((await store.open(reference.uri)).equals(bytes)).toBe(true);
    expect(await store.sizeOf(reference.uri)).toBe(size);
  },
);

test("an empty stream is refused, and leaves nothing", async () => {
  for (const pieces of [[], [Buffer.alloc(0), Buffer.alloc(0)]])
    await expect(store.putStream(pieces, "a/b", { id })).rejects.toThrow("document: is empty");
  expect(await names()).toEqual([]);
});

test("a stream that breaks off stores nothing, and its error comes through", async () => {
  async function* broken() {
    yield randomBytes(3 * CHUNK);
    throw new Error("the line was cut");
  }
  await expect(store.putStream(broken(), "a/b", { id })).rejects.toThrow("the line was cut");
  // Its error may come before the store reads it.
  const missing = createReadStream("no-such-file");
  await expect(store.putStream(missing, "a/b", { id })).rejects.toThrow("ENOENT");
  await expect(read({ uri: `document:${id}` })).rejects.toThrow(DocumentNotFoundError);
  expect(await names()).toEqual([]);
});

test("a crash in the middle of a stream leaves nothing that reads as a document, and clean-up finds the rest", async () => {
  const uri = `document:${id}`;
  const after = await temporaryFolder();
  const plaintext = Buffer.alloc(5 * CHUNK, "plaintext");
  async function* watched() {
    yield plaintext.subarray(0, 4 * CHUNK);
    expect(await store.exists(uri)).toBe(false);
    await expect(store.openRead({ uri }).next()).rejects.toThrow(DocumentNotFoundError);
    await cp(root, after, { recursive: true });
    yield plaintext.subarray(4 * CHUNK);
  }
  try {
    await store.putStream(watched(), "a/b", { id });
    expect(await store.exists(uri)).toBe(true);
    const crashed = new DocumentStore(new DirectoryDriver(after), ring);
    const [left = ""] = await readdir(join(after, "00"));
    const bytes = await readFile(join(after, "00", left));
    expect(bytes.length).toBeGreaterThan(2 * CHUNK);
    expect(bytes.includes("plaintext")).toBe(false);
    expect(await crashed.exists(uri)).toBe(false);
    await expect(crashed.open(uri)).rejects.toThrow(DocumentNotFoundError);
    await expect(crashed.sizeOf(uri)).rejects.toThrow(DocumentNotFoundError);
    expect(await crashed.mayBelongTo(uri, owner)).toBe(false);
    const listed: string[] = [];
    for await (const each of crashed.list()) listed.push(each.uri);
    expect(listed).toEqual([uri]);
    const again = await crashed.putStream([plaintext], "a/b", { id });
    expect((await crashed.get(again)).equals(plaintext)).toBe(true);
    await crashed.delete(uri);
    expect(await readdir(join(after, "00"))).toEqual([]);
  } finally {
    await rm(after, { recursive: true });
  }
});

test.each(["ENOSPC", "EDQUOT"])(
  "on a full disk (%s) the error names the folder's setting, and nothing is left",
  async (code) => {
    const files = await fileHandles();
    const { writeFile: write } = files;
    const bytes = randomBytes(5 * CHUNK);
    let writes = 0;
    const disk = vi.spyOn(files, "writeFile").mockImplementation(async function (
      this: FileHandle,
      ...args
    ) {
      if (++writes % 3 === 0) throw Object.assign(new Error("no space"), { code });
      return write.apply(this, args);
    });
    try {
      const put = store.putStream(inPieces(bytes, 50_000), "a/b", { id });
      await expect(put).rejects.toThrow(DocumentStoreFullError);
      await expect(put).rejects.toThrow("documents.directory");
      await store.withSpool(async (spool) => {
        const keep = spool.keep(inPieces(bytes, 50_000));
        await expect(keep).rejects.toThrow(DocumentStoreFullError);
      });
    } finally {
      disk.mockRestore();
    }
    expect(await names()).toEqual([]);
    await store.putStream([bytes], "a/b", { id });
  },
);

test("a document that is stored while its process is erased cannot be read", async () => {
  const bytes = randomBytes(3 * CHUNK);
  async function* during() {
    yield bytes;
    await store.dataKeys.erase(owner);
  }
  const reference = await store.putStream(during(), "a/b", { id, process: owner });
  await expect(store.get(reference)).rejects.toThrow(DocumentErasedError);
  await expect(store.putStream([bytes], "a/b", { process: owner })).rejects.toThrow("erased");
  expect(await store.mayBelongTo(reference.uri, owner)).toBe(true);
});

test("a document whose header was cut still shows its process, so that an erasure deletes it", async () => {
  const { uri } = await store.putStream([randomBytes(CHUNK)], "a/b", { id, process: owner });
  const sealed = await readFile(file(id));
  await writeFile(file(id), sealed.subarray(0, 2 + 32));
  expect(await store.mayBelongTo(uri, owner)).toBe(true);
  expect(await store.mayBelongTo(uri, { ...owner, workflowId: "order-8" })).toBe(false);
  await expect(store.sizeOf(uri)).rejects.toThrow(DocumentCorruptError);
  await expect(store.open(uri)).rejects.toThrow(DocumentCorruptError);
});

test("the same content again, in other pieces, gives the same reference; other content is a conflict", async () => {
  const bytes = randomBytes(2 * CHUNK);
  const reference = await store.putStream(inPieces(bytes, 1_000), "a/b", { id });
  const stored = await readFile(file(id));
  expect(await store.putStream(inPieces(bytes, 70_000), "a/b", { id })).toEqual(reference);
  const other = Buffer.from(bytes);
  other[2 * CHUNK - 1]! ^= 1;
  await expect(store.putStream([other], "a/b", { id })).rejects.toThrow(DocumentConflictError);
  expect((await readFile(file(id))).equals(stored)).toBe(true);
});

test("a bit that changed anywhere is found, and nothing of its chunk, nor of what follows, is handed on", async () => {
  const reference = await store.putStream([randomBytes(3 * CHUNK)], "a/b", { id });
  const sealed = await readFile(file(id));
  const chunkAt = (number: number) => HEADER + number * SEALED_CHUNK;
  const places: [at: number, passed: number][] = [
    [0, 0],
    [2, 0],
    [5, 0],
    [10, 0],
    [HEADER - 1, 0],
    [chunkAt(0), 0],
    [chunkAt(0) + CHUNK, 0],
    // The reader is one chunk ahead of what it hands on.
    [chunkAt(1) + 100, 0],
    [chunkAt(1) + CHUNK + 15, 0],
    [chunkAt(2), CHUNK],
    [sealed.length - 1, CHUNK],
  ];
  for (const [at, passed] of places) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 64;
    await writeFile(file(id), changed);
    const { bytes, error } = await got(reference);
    expect([at, bytes, bytes <= passed]).toEqual([at, bytes, true]);
    expect(["DocumentCorruptError", "UnknownKeyError"]).toContain(error);
  }
  // Nor does a whole document open in the place of another one; what else may happen to chunks shows test/crypto/sealed-stream.test.ts.
  const another = await store.putStream([randomBytes(CHUNK)], "a/b");
  await writeFile(file(another.uri.slice("document:".length)), sealed);
  expect(await got({ uri: another.uri })).toEqual({ bytes: 0, error: "DocumentCorruptError" });
});

test("the last piece is held back until size and SHA-256 are those of the reference", async () => {
  const reference = await store.putStream([randomBytes(2 * CHUNK + 5)], "a/b", { id });
  const wrong = { ...reference, sha256: "0".repeat(64) };
  expect(await got(wrong)).toEqual({ bytes: 2 * CHUNK, error: "DocumentCorruptError" });
  // What one chunk holds is checked before anything of it is handed on; a size is looked at before the first byte.
  const short = await store.put(randomBytes(CHUNK), "a/b");
  const refused = { bytes: 0, error: "DocumentCorruptError" };
  expect(await got({ ...short, sha256: "0".repeat(64) })).toEqual(refused);
  expect(await got({ ...reference, size: 2 * CHUNK + 4 })).toEqual(refused);
});

test("to check a document for a process seals it with the process's key, and shows how it begins", async () => {
  const bytes = Buffer.concat([Buffer.from("%PDF-1.7"), randomBytes(2 * CHUNK)]);
  const reference = await store.putStream([bytes], "application/pdf", { id });
  const first = await store.check(reference, owner);
  expect(first.subarray(0, 8).toString()).toBe("%PDF-1.7");
  expect((await readFile(file(id)))[0]).toBe(5);
  expect((await store.get(reference)).equals(bytes)).toBe(true);
  const other = { namespace: "default", workflowId: "order-8" };
  await store.handOver(reference.uri, owner, other);
  expect(await store.mayBelongTo(reference.uri, owner)).toBe(false);
  expect((await store.get(reference)).equals(bytes)).toBe(true);
});

test("who reads while the document is sealed again, or removed, reads it to its end", async () => {
  const bytes = randomBytes(5 * CHUNK);
  const reference = await store.putStream([bytes], "a/b", { id });
  const pieces: Buffer[] = [];
  for await (const piece of store.openRead(reference)) {
    if (pieces.length === 0) await store.check(reference, owner);
    if (pieces.length === 2) await store.delete(reference.uri);
    pieces.push(piece);
  }
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test("a reader closes the file at its end, after an error and when it stops early; one that never begins opens none", async () => {
  const reference = await store.putStream([randomBytes(5 * CHUNK)], "a/b", { id });
  const counted = { opened: 0, closed: 0 };
  const driver = new DirectoryDriver(root);
  const openFile = driver.open.bind(driver);
  driver.open = async (name) => {
    const opened = await openFile(name);
    if (!opened) return undefined;
    counted.opened += 1;
    const close = async () => {
      counted.closed += 1;
      await opened.close();
    };
    return { size: opened.size, read: opened.read.bind(opened), close };
  };
  store = new DocumentStore(driver, ring);
  store.openRead(reference);
  expect(counted).toEqual({ opened: 0, closed: 0 });
  await read(reference);
  expect(counted).toEqual({ opened: 1, closed: 1 });
  await got({ ...reference, sha256: "0".repeat(64) });
  await got({ ...reference, size: 1 });
  expect(counted).toEqual({ opened: 3, closed: 3 });
  for await (const _ of store.openRead(reference)) break;
  expect(counted).toEqual({ opened: 4, closed: 4 });
});
