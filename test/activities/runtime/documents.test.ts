// A document that a call sends is read to its end before the call starts (docs/design.md §8).
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileOf } from "../../../src/activities/runtime/documents.js";
import { openStore } from "../../harness/documents/open-store.js";
import type { OpenStore } from "../../harness/documents/open-store.js";
import { inAttempt } from "../attempts.js";

const id = "00112233445566778899aabbccddeeff";
const bytes = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(200_000)]);
let root: string;
let store: OpenStore["documents"];
let remove: OpenStore["close"];
beforeEach(async () => {
  ({ directory: root, documents: store, close: remove } = await openStore());
});
afterEach(() => remove());

async function stored(content: Buffer) {
  return { name: "a.pdf", document: await store.put(content, "application/pdf", { id }) };
}

test("the file has the document's size and type, and each call reads it from the start", async () => {
  const given = await stored(bytes);
  const file = await inAttempt(() => fileOf(store, given));
  if (!("read" in file)) throw new Error("the file is in memory");
  expect(file).toMatchObject({ name: "a.pdf", mediaType: "application/pdf", size: bytes.length });
  for (const _ of ["a first attempt", "a retry"])
    expect((await buffer(file.read())).equals(bytes)).toBe(true);
});

test("a document that is damaged in its last chunk is refused before the call", async () => {
  const given = await stored(bytes);
  const path = join(root, "00", id);
  const sealed = await readFile(path);
  sealed[sealed.length - 1]! ^= 1;
  await writeFile(path, sealed);
  await expect(inAttempt(() => fileOf(store, given, "documents.0"))).rejects.toMatchObject({
    fields: [{ path: "documents.0", problem: "is not what its reference says" }],
  });
});

test("a document with the type of a PDF that is not a PDF is refused before the call", async () => {
  const given = await stored(Buffer.from("<html>"));
  await expect(inAttempt(() => fileOf(store, given))).rejects.toMatchObject({
    fields: [{ path: "a.pdf", problem: "is not a PDF" }],
  });
});
