import { beforeEach, expect, test } from "vitest";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { derivedDocumentId } from "../../src/documents/document-id.js";
import { DocumentNotFoundError, DocumentStore } from "../../src/documents/store.js";
import { temporaryFolder } from "../harness/temporary.js";

const content = Buffer.from("%PDF-1.7 a letter to nobody");
const id = "00112233445566778899aabbccddeeff";
let root: string;
let ring: KeyRing;
let store: DocumentStore;

beforeEach(async () => {
  root = await temporaryFolder();
  ring = KeyRing.parse(generateKeyRing());
  store = new DocumentStore(new DirectoryDriver(root), ring);
});

async function listed(): Promise<string[]> {
  const uris = [];
  for await (const { uri } of store.list()) uris.push(uri);
  return uris;
}

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

test("a document that is gone is named as not found", async () => {
  const reference = await store.put(content, "application/pdf");
  await store.delete(reference.uri);
  await expect(store.get(reference)).rejects.toThrow(DocumentNotFoundError);
  await expect(store.get(reference)).rejects.toThrow(reference.uri);
  expect(await store.exists(reference.uri)).toBe(false);
});

test("a document stored before a key rotation is read after it, and without its key says which one is missing", async () => {
  const reference = await store.put(content, "application/pdf");
  const fresh = generateKeyRing("fresh");
  const other = new DocumentStore(new DirectoryDriver(root), KeyRing.parse(fresh));
  await expect(other.get(reference)).rejects.toThrow('the key ring has no key "k1"');
});

test("an empty document and a uri of another kind are refused", async () => {
  await expect(store.put(Buffer.alloc(0), "application/pdf")).rejects.toThrow("document: is empty");
  await expect(store.exists("file:///etc/passwd")).rejects.toThrow("must be document:");
  await expect(store.exists("document:../../etc/passwd")).rejects.toThrow("32 hex digits");
});

test("a derived id depends on each part and on where one ends", () => {
  expect(derivedDocumentId("token", "affidavit-1")).toMatch(/^[0-9a-f]{32}$/);
  expect(derivedDocumentId("token", "affidavit-1")).toBe(derivedDocumentId("token", "affidavit-1"));
  expect(derivedDocumentId("ab", "c")).not.toBe(derivedDocumentId("a", "bc"));
});
