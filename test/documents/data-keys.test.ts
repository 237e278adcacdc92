// The data key of a process: what it seals opens nowhere without it, wherever a copy of that lies.
import { beforeEach, expect, vi, test } from "vitest";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataKeyId } from "../../src/crypto/data-key.js";
import { ErasedKeyError, isUndecryptable } from "../../src/crypto/errors.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { dataKeyOf } from "../../src/crypto/sealed.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import { DocumentCorruptError, DocumentErasedError } from "../../src/errors/index.js";
import { temporaryFolder } from "../harness/temporary.js";

const ring = KeyRing.parse(generateKeyRing());
const processKey = { namespace: "default", workflowId: "sendPostal/order-7" };
const other = { namespace: "default", workflowId: "sendPostal/order-8" };
const content = Buffer.from("%PDF-1.7 a letter to nobody");
let root: string;
let store: DocumentStore;

const storeAt = (folder: string) => new DocumentStore(new DirectoryDriver(folder), ring);
const fileOf = (uri: string) => {
  const id = uri.slice("document:".length);
  return join(root, id.slice(0, 2), id);
};
const keyFileOf = (of: typeof processKey) => {
  const id = dataKeyId(of);
  return join(root, "keys", id.slice(0, 2), id);
};
const sealedWith = async (uri: string) => dataKeyOf(await readFile(fileOf(uri)));

beforeEach(async () => {
  root = await temporaryFolder();
  store = storeAt(root);
});

test("however many ask for it at once, a process has one key, and another process another one", async () => {
  const stores = Array.from({ length: 8 }, () => storeAt(root));
  const keys = await Promise.all(stores.map(({ dataKeys }) => dataKeys.of(processKey)));
  expect(new Set(keys.map(({ bytes }) => bytes.toString("hex"))).size).toBe(1);
  const another = await store.dataKeys.of(other);
  expect(another.bytes.equals(keys[0]!.bytes)).toBe(false);
  expect(another.id).not.toBe(keys[0]?.id);
});

test("the key at rest is sealed, and opens in no other process's place", async () => {
  const { bytes } = await store.dataKeys.of(processKey);
  const sealed = await readFile(keyFileOf(processKey));
  expect(sealed.includes(bytes)).toBe(false);
  await store.dataKeys.of(other);
  await writeFile(keyFileOf(other), sealed);
  const moved = storeAt(root).dataKeys.of(other);
  await expect(moved).rejects.toThrow("does not belong to this key and context");
});

test("a key shows neither in a print nor in JSON", async () => {
  const key = await store.dataKeys.of(processKey);
  expect(JSON.stringify(key)).toBe(`{"id":"${key.id}"}`);
});

test("a process's document is sealed with its key from the start, and everybody with the ring reads it", async () => {
  const reference = await store.put(content, "application/pdf", { process: processKey });
  expect(await sealedWith(reference.uri)).toBe(dataKeyId(processKey));
  expect(await storeAt(root).get(reference)).toEqual(content);
});

test("an upload is sealed again when a process takes it: same URI, same content", async () => {
  const reference = await store.put(content, "application/pdf");
  expect(await sealedWith(reference.uri)).toBeUndefined();
  expect(await store.take(reference, processKey)).toEqual(content);
  expect(await sealedWith(reference.uri)).toBe(dataKeyId(processKey));
  expect(await storeAt(root).get(reference)).toEqual(content);
  // A second process that takes it reads it; it stays with the first one's key.
  expect(await store.take(reference, other)).toEqual(content);
  expect(await sealedWith(reference.uri)).toBe(dataKeyId(processKey));
});

test("a document without a process is sealed again when a process puts it again", async () => {
  const id = "ab".repeat(16);
  const { uri } = await store.put(content, "application/pdf", { id });
  await store.put(content, "application/pdf", { id, process: processKey });
  expect(await sealedWith(uri)).toBe(dataKeyId(processKey));
});

test("readers see the whole document at every moment of the sealing, and nothing else is left", async () => {
  const large = Buffer.alloc(2_000_000, "letter");
  const reference = await store.put(large, "application/pdf");
  const stores = Array.from({ length: 6 }, () => storeAt(root));
  const all = stores.map((one, index) =>
    index % 2 ? one.get(reference) : one.take(reference, processKey),
  );
  for (const bytes of await Promise.all(all)) expect(bytes.equals(large)).toBe(true);
  expect(await sealedWith(reference.uri)).toBe(dataKeyId(processKey));
  expect(await readdir(join(fileOf(reference.uri), ".."))).toHaveLength(1);
});

test("a document that does not fit its reference is not sealed again", async () => {
  const reference = await store.put(content, "application/pdf");
  for (const wrong of [{ size: 1 }, { sha256: "0".repeat(64) }])
    for (const take of ["take", "check"] as const)
      await expect(store[take]({ ...reference, ...wrong }, processKey)).rejects.toThrow(
        DocumentCorruptError,
      );
  expect(await sealedWith(reference.uri)).toBeUndefined();
});

test("keys are no documents", async () => {
  await store.put(content, "application/pdf", { process: processKey });
  const uris = [];
  for await (const { uri } of store.list()) uris.push(uri);
  expect(uris).toHaveLength(1);
});

test("without its key no copy of a document opens: neither in a backup without keys, nor after the key was erased", async () => {
  const reference = await store.put(content, "application/pdf", { process: processKey });
  const backup = `${root}-backup`;
  await cp(root, backup, { recursive: true });
  try {
    await store.dataKeys.erase(processKey);
    await expect(storeAt(root).get(reference)).rejects.toThrow(DocumentErasedError);
    // The copy that was made before still has its key; that of a backup which leaves the keys out has none.
    expect(await storeAt(backup).get(reference)).toEqual(content);
    await rm(join(backup, "keys"), { recursive: true });
    const error: unknown = await storeAt(backup)
      .get(reference)
      .catch((failure: unknown) => failure);
    expect(isUndecryptable(error)).toBe(true);
    expect((error as Error).message).toBe(
      `the document store has no data key "${dataKeyId(processKey)}"`,
    );
  } finally {
    await rm(backup, { recursive: true });
  }
});

test("an erased key stays erased: no process makes a new one, and to erase it again is the same", async () => {
  await store.dataKeys.of(processKey);
  await store.dataKeys.erase(processKey);
  await store.dataKeys.erase(processKey);
  expect(await store.dataKeys.isErased(processKey)).toBe(true);
  expect(await store.dataKeys.isErased(other)).toBe(false);
  for (const one of [store, storeAt(root)]) {
    await expect(one.dataKeys.of(processKey)).rejects.toThrow(ErasedKeyError);
    await expect(one.put(content, "a/b", { process: processKey })).rejects.toThrow(ErasedKeyError);
  }
  await expect(readFile(keyFileOf(processKey), "utf8")).resolves.toBe("erased");
});

test("what a crash left of a key goes with it", async () => {
  await store.dataKeys.of(processKey);
  const left = join(keyFileOf(processKey), "..", `.${dataKeyId(processKey)}.${"0".repeat(16)}`);
  await writeFile(left, await readFile(keyFileOf(processKey)));
  await store.dataKeys.erase(processKey);
  await expect(readFile(left)).rejects.toThrow("ENOENT");
});

test("a role forgets a key ten minutes after it was read", async () => {
  await store.dataKeys.of(processKey);
  await storeAt(root).dataKeys.erase(processKey);
  await expect(store.dataKeys.of(processKey)).resolves.toBeDefined();
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(now + 600_001);
  try {
    await expect(store.dataKeys.of(processKey)).rejects.toThrow(ErasedKeyError);
  } finally {
    clock.mockRestore();
  }
});
