// What any document store promises of ids, of keys and of what is not there.
import { expect, test } from "vitest";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { derivedDocumentId } from "../../src/documents/document-id.js";
import { DocumentStore } from "../../src/documents/store.js";
import { DocumentNotFoundError } from "../../src/errors/index.js";
import { temporaryFolder } from "../harness/temporary.js";

const content = Buffer.from("%PDF-1.7 a letter to nobody");
const key = generateKeyRing("old");
const root = await temporaryFolder();
const storeWith = (ring: string) =>
  new DocumentStore(new DirectoryDriver(root), KeyRing.parse(ring));
const store = storeWith(key);

test("random ids keep equal documents apart", async () => {
  expect((await store.put(content, "a/b")).uri).not.toBe((await store.put(content, "a/b")).uri);
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
  expect(await storeWith(`${fresh},${key}`).get(reference)).toEqual(content);
  await expect(storeWith(fresh).get(reference)).rejects.toThrow('the key ring has no key "old"');
});

test("a uri of another kind is refused", async () => {
  await expect(store.exists("file:///etc/passwd")).rejects.toThrow("must be document:");
  await expect(store.exists("document:../../etc/passwd")).rejects.toThrow("32 hex digits");
});

test("a derived id depends on each part and on where one ends", () => {
  expect(derivedDocumentId("token", "affidavit-1")).toMatch(/^[0-9a-f]{32}$/);
  expect(derivedDocumentId("token", "affidavit-1")).toBe(derivedDocumentId("token", "affidavit-1"));
  expect(derivedDocumentId("ab", "c")).not.toBe(derivedDocumentId("a", "bc"));
});
