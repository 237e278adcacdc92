// Documents as files of a folder: whole or not there, for their owner alone, and on the disk before anybody sees them.
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, vi, test } from "vitest";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStoreUnavailableError } from "../../src/errors/index.js";
import { temporaryFolder } from "../harness/temporary.js";

const id = "00112233445566778899aabbccddeeff";
let root: string;
let driver: DirectoryDriver;

beforeEach(async () => {
  root = join(await temporaryFolder(), "store");
  driver = new DirectoryDriver(root);
});

/** The methods of all open files. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open(join(root, ".."));
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

async function listed(): Promise<string[]> {
  const ids = [];
  for await (const entry of driver.list()) ids.push(entry.id);
  return ids;
}

test("what is written is read back and can be removed, twice", async () => {
  expect(await driver.read(id)).toBeUndefined();
  expect(await driver.exists(id)).toBe(false);
  expect(await driver.write(id, [Buffer.from("one")])).toBe(true);
  expect(await driver.read(id)).toEqual(Buffer.from("one"));
  expect(await driver.exists(id)).toBe(true);
  await driver.remove(id);
  await driver.remove(id);
  expect(await driver.read(id)).toBeUndefined();
});

test("only the owner can read files and folders, and no temporary file stays", async () => {
  await driver.write(id, [Buffer.from("one")]);
  await driver.write(id, [Buffer.from("two")]);
  expect((await stat(root)).mode & 0o777).toBe(0o700);
  expect((await stat(join(root, "00"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(root, "00", id))).mode & 0o777).toBe(0o600);
  expect(await readdir(join(root, "00"))).toEqual([id]);
});

test("of twenty concurrent writers of one id exactly one wins, and its bytes are whole", async () => {
  const contents = Array.from({ length: 20 }, () => randomBytes(300_000));
  const won = await Promise.all(contents.map((bytes) => driver.write(id, [bytes])));
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(await driver.read(id)).toEqual(contents[won.indexOf(true)]);
  expect(await readdir(join(root, "00"))).toEqual([id]);
});

test("lists ids with the time of storing, and nothing that is not a document", async () => {
  expect(await listed()).toEqual([]);
  const other = "ff".repeat(16);
  await driver.write(other, [Buffer.from("one")]);
  await driver.write(id, [Buffer.from("two")]);
  await writeFile(join(root, "00", "readme.txt"), "");
  await writeFile(join(root, "notes"), "");
  expect((await listed()).toSorted()).toEqual([id, other]);
  for await (const entry of driver.list())
    expect(Date.now() - entry.storedAt.getTime()).toBeLessThan(60_000);
});

test("what a crash left half written is never read, is listed once and goes with its id", async () => {
  const half = "00".repeat(16);
  await driver.write(id, [Buffer.from("one")]);
  await writeFile(join(root, "00", `.${id}.0123456789abcdef`), "ha");
  await writeFile(join(root, "00", `.${half}.0123456789abcdef`), "ha");
  expect(await driver.read(half)).toBeUndefined();
  expect((await listed()).toSorted()).toEqual([half, id]);
  await driver.remove(half);
  await driver.remove(id);
  expect(await readdir(join(root, "00"))).toEqual([]);
});

test.each(["", "../../etc/passwd", "AA".repeat(16), `${id}0`])(
  "an id that is no id reaches no file: %s",
  async (bad) => {
    await expect(driver.write(bad, [Buffer.from("x")])).rejects.toThrow("32 hex digits");
    await expect(driver.read(bad)).rejects.toThrow("32 hex digits");
    await expect(driver.remove(bad)).rejects.toThrow("32 hex digits");
  },
);

test("the bytes are on the disk before the id shows them, and the folder after it, also after a removal", async () => {
  await driver.write("ff".repeat(16), [Buffer.from("other")]);
  const files = await fileHandles();
  const { sync } = files;
  const synced: string[] = [];
  const spy = vi.spyOn(files, "sync").mockImplementation(async function (this: FileHandle) {
    const kind = (await this.stat()).isDirectory() ? "folder" : "file";
    synced.push(`${kind} ${(await driver.read(id))?.toString() ?? "nothing"}`);
    await sync.apply(this);
  });
  try {
    await driver.write(id, [Buffer.from("one")]);
    expect(synced.slice(-2)).toEqual(["file nothing", "folder one"]);
    await driver.replace(id, [Buffer.from("two")]);
    expect(synced.slice(-2)).toEqual(["file one", "folder two"]);
    await driver.remove(id);
    expect(synced.slice(-2)).toEqual(["folder two", "folder nothing"]);
  } finally {
    spy.mockRestore();
  }
});

test("a folder that cannot be used is said to be so, with the system's name of the problem", async () => {
  await writeFile(root, "a file in place of the folder");
  const refused = [
    driver.write(id, [Buffer.from("one")]),
    driver.read(id),
    driver.open(id),
    driver.exists(id),
  ];
  const thrown = await Promise.all(refused.map((one) => one.catch((error: unknown) => error)));
  for (const error of thrown) {
    expect(error).toBeInstanceOf(DocumentStoreUnavailableError);
    expect(error).toMatchObject({ retryable: true, details: { errno: "ENOTDIR" } });
  }
});

test("each refusal of the disk is said to be one", async () => {
  await driver.write(id, [Buffer.from("one")]);
  const files = await fileHandles();
  const { sync } = files;
  const spy = vi.spyOn(files, "sync").mockImplementation(async function (this: FileHandle) {
    if ((await this.stat()).isDirectory())
      throw Object.assign(new Error("a broken disk"), { code: "EIO" });
    await sync.apply(this);
  });
  const synced = await driver.replace(id, [Buffer.from("two")]).catch((thrown: unknown) => thrown);
  spy.mockRestore();
  await rm(join(root, "00", id));
  await mkdir(join(root, "00", id));
  const folder = await driver.open(id);
  const read = vi
    .spyOn(files, "read")
    .mockRejectedValue(Object.assign(new Error("a broken disk"), { code: "EIO" }) as never);
  const [reading, replaced, removed] = await Promise.all(
    [folder!.read(0, 1), driver.replace(id, [Buffer.from("two")]), driver.remove(id)].map((one) =>
      one.catch((thrown: unknown) => thrown),
    ),
  );
  read.mockRestore();
  await folder!.close();
  for (const error of [synced, reading, replaced, removed])
    expect(error).toBeInstanceOf(DocumentStoreUnavailableError);
  expect(synced).toMatchObject({ details: { errno: "EIO" } });
  expect(reading).toMatchObject({ details: { errno: "EIO" } });
  expect(replaced).toMatchObject({ details: { errno: "EISDIR" } });
});
