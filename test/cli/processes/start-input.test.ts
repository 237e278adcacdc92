// Files in an input, wherever its contract takes a document.
import { beforeAll, expect, test } from "vitest";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readStartInput, withStoredFiles } from "../../../src/cli/processes/start-input.js";
import { DocumentInput } from "../../../src/contracts/shared/values.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { temporaryFolder } from "../../harness/temporary.js";

const contract = z.strictObject({
  documents: z.array(z.strictObject({ name: z.string(), document: DocumentInput })),
  cover: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("file"), file: DocumentInput }),
    z.strictObject({ kind: z.literal("link"), link: z.strictObject({ path: z.string() }) }),
  ]),
  providerFields: z.record(z.string(), z.unknown()).optional(),
});

const folder = await temporaryFolder();
let store: DocumentStore;
beforeAll(async () => {
  store = new DocumentStore(new DirectoryDriver(folder), KeyRing.parse(generateKeyRing()));
  await writeFile(join(folder, "one.pdf"), "%PDF-1.4 one");
  await writeFile(join(folder, "two.pdf"), "%PDF-1.4 two");
  await writeFile(join(folder, "note.txt"), "a note");
  await writeFile(join(folder, "empty.pdf"), "");
});

async function read(input: object) {
  const file = join(folder, "input.json");
  await writeFile(file, JSON.stringify(input));
  return readStartInput(contract, file, "order-7");
}

const fieldsOf = (input: object) =>
  read(input).then(
    () => undefined,
    (error: { fields: { path: string; problem: string }[] }) => error.fields,
  );
const document = (name: string, given: object) => ({ name, document: given });
const link = { kind: "link", link: { path: "one.pdf" } };

test("a file that is not UTF-8 is refused, before a name in it is spoilt", async () => {
  const file = join(folder, "latin.json");
  await writeFile(file, Buffer.from('{"name":"Alcal\u00e1"}', "latin1"));
  await expect(readStartInput(contract, file, "order-7")).rejects.toThrow("--input: must be UTF-8");
});

test("every file is put into the store; what the contract does not take as a document is left as it is", async () => {
  const providerFields = { document: { path: "one.pdf" } };
  const found = await read({
    documents: [
      document("one", { path: "one.pdf" }),
      document("inline", { base64: "JVBERi0x", mediaType: "application/pdf" }),
      document("note", { path: "note.txt", mediaType: "text/plain" }),
    ],
    cover: { kind: "file", file: { path: "two.pdf" } },
    providerFields,
  });
  expect([...found.files.keys()]).toEqual([
    "documents.0.document",
    "documents.2.document",
    "cover.file",
  ]);
  const sent = contract.parse(await withStoredFiles(found, () => store));
  const contents = await Promise.all(
    [...sent.documents.map((each) => each.document), "file" in sent.cover && sent.cover.file].map(
      async (each) => each && "uri" in each && (await store.get(each)).toString(),
    ),
  );
  expect(contents).toEqual(["%PDF-1.4 one", false, "a note", "%PDF-1.4 two"]);
  expect(sent.providerFields).toEqual(providerFields);
  expect((await read({ documents: [], cover: link })).checked).toEqual({
    documents: [],
    cover: link,
  });
});

test("an input without files asks for no store", async () => {
  const found = await read({ documents: [], cover: link });
  const noStore = () => {
    throw new Error("asked for");
  };
  expect(await withStoredFiles(found, noStore)).toEqual({ documents: [], cover: link });
});

test("all that is wrong is named at once, each file by its place", async () => {
  const fields = await fieldsOf({
    documents: [
      document("one", { path: "missing.pdf" }),
      document("two", { path: "note.txt" }),
      document("three", { path: "empty.pdf" }),
      document("four", { path: 4, mediaType: 4, sha256: "0" }),
      document("five", { path: "." }),
    ],
    cover: { kind: "file", file: { path: "one.pdf" } },
    extra: true,
  });
  expect(fields).toEqual([
    {
      path: "documents.0.document.path",
      problem: expect.stringMatching(/^cannot read .*: no such file$/),
    },
    { path: "documents.1.document.path", problem: "is not a PDF" },
    { path: "documents.2.document.path", problem: "is empty" },
    {
      path: "documents.3.document.sha256",
      problem: "is not known beside documents.3.document.path",
    },
    { path: "documents.3.document.path", problem: "must be text" },
    { path: "documents.3.document.mediaType", problem: "must be text" },
    {
      path: "documents.4.document.path",
      problem: expect.stringMatching(/^cannot read .*: it is a folder$/),
    },
    { path: "extra", problem: "is not known" },
  ]);
});

test("an input that is too large for Node is named in words", async () => {
  const path = join(folder, "large.json");
  await writeFile(path, "{");
  await truncate(path, 3_000_000_000);
  await expect(readStartInput(contract, path, "order-7")).rejects.toThrow(
    /--input: cannot read .*: it is over 2 GiB$/,
  );
});
