import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DocumentReference } from "../../src/contracts/shared/values.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { derivedDocumentId } from "../../src/documents/document-id.js";
import {
  DocumentConflictError,
  DocumentCorruptError,
  DocumentNotFoundError,
  DocumentStore,
} from "../../src/documents/store.js";

const content = Buffer.from("%PDF-1.7 a letter to nobody");
const id = "00112233445566778899aabbccddeeff";
const file = (name: string): string => join(root, name.slice(0, 2), name);
let root: string;
let ring: KeyRing;
let store: DocumentStore;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "documents-"));
  ring = KeyRing.parse(generateKeyRing());
  store = new DocumentStore(new DirectoryDriver(root), ring);
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

async function listed(): Promise<string[]> {
  const uris = [];
  for await (const { uri } of store.list()) uris.push(uri);
  return uris;
}

test("a document comes back by its reference, which describes the plaintext", async () => {
  const reference = await store.put(content, "application/pdf");
  expect(DocumentReference.parse(reference)).toEqual(reference);
  expect(reference).toMatchObject({
    size: content.length,
    mediaType: "application/pdf",
    sha256: createHash("sha256").update(content).digest("hex"),
  });
  expect(await store.get(reference)).toEqual(content);
  expect(await store.exists(reference.uri)).toBe(true);
  expect(await listed()).toEqual([reference.uri]);
});

test("the file at rest shows nothing of the content", async () => {
  await store.put(content, "application/pdf", { id });
  expect((await readFile(file(id))).includes("PDF")).toBe(false);
});

test("random ids keep equal documents apart", async () => {
  expect((await store.put(content, "a/b")).uri).not.toBe((await store.put(content, "a/b")).uri);
});

test("the same id and content again, even at once, gives the same reference and no second copy", async () => {
  const all = await Promise.all(
    Array.from({ length: 10 }, () => store.put(content, "application/pdf", { id })),
  );
  expect(new Set(all.map((reference) => JSON.stringify(reference))).size).toBe(1);
  expect(await listed()).toEqual([`document:${id}`]);
});

test("the same id with other content is refused and the first content stays", async () => {
  const reference = await store.put(content, "application/pdf", { id });
  await expect(store.put(Buffer.from("other"), "application/pdf", { id })).rejects.toThrow(
    DocumentConflictError,
  );
  expect(await store.get(reference)).toEqual(content);
});

test("a document that is gone is named as not found", async () => {
  const reference = await store.put(content, "application/pdf");
  await store.delete(reference.uri);
  await expect(store.get(reference)).rejects.toThrow(DocumentNotFoundError);
  await expect(store.get(reference)).rejects.toThrow(reference.uri);
  expect(await store.exists(reference.uri)).toBe(false);
});

test("a changed file, a swapped file and a reference that does not fit are corrupt", async () => {
  const reference = await store.put(content, "application/pdf", { id });
  const sealed = await readFile(file(id));
  const swapped = await store.put(Buffer.from("another document"), "application/pdf", {
    id: "ab".repeat(16),
  });
  await writeFile(file("ab".repeat(16)), sealed);
  await expect(store.get(swapped)).rejects.toThrow(DocumentCorruptError);

  await expect(store.get({ ...reference, size: 1 })).rejects.toThrow(
    `has ${content.length} bytes instead of 1`,
  );
  await expect(store.get({ ...reference, sha256: "0".repeat(64) })).rejects.toThrow(
    DocumentCorruptError,
  );

  await writeFile(file(id), sealed.subarray(0, -1));
  await expect(store.get(reference)).rejects.toThrow(DocumentCorruptError);
  await writeFile(file(id), "");
  await expect(store.get(reference)).rejects.toThrow(DocumentCorruptError);
});

test("a document stored before a key rotation is read after it, and without its key says which one is missing", async () => {
  const reference = await store.put(content, "application/pdf");
  const fresh = generateKeyRing("fresh");
  const other = new DocumentStore(new DirectoryDriver(root), KeyRing.parse(fresh));
  await expect(other.get(reference)).rejects.toThrow('the key ring has no key "k1"');
});

test("an empty document and a uri of another kind are refused", async () => {
  await expect(store.put(Buffer.alloc(0), "application/pdf")).rejects.toThrow("document is empty");
  await expect(store.exists("file:///etc/passwd")).rejects.toThrow("must be document:");
  await expect(store.exists("document:../../etc/passwd")).rejects.toThrow("32 hex digits");
});

test("a derived id depends on each part and on where one ends", () => {
  expect(derivedDocumentId("token", "affidavit-1")).toMatch(/^[0-9a-f]{32}$/);
  expect(derivedDocumentId("token", "affidavit-1")).toBe(derivedDocumentId("token", "affidavit-1"));
  expect(derivedDocumentId("ab", "c")).not.toBe(derivedDocumentId("a", "bc"));
});
