// What killed workers have left in the document store goes a day later: unfinished files, and archive parts that no archive has.
import { beforeEach, expect, test } from "vitest";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BatchItems } from "../../src/batch/items/items.js";
import { ArchiveParts } from "../../src/batch/items/parts.js";
import { cleanUp } from "../../src/cleanup/cleanup.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { derivedDocumentId, uploadId } from "../../src/documents/document-id.js";
import { DocumentStore } from "../../src/documents/store.js";
import { addOwner } from "../../src/journal/ownership.js";
import { clientOf, knownNamespace } from "../harness/stack/known-processes.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { retention } from "./support.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";

const ring = KeyRing.parse(generateKeyRing());
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const batch = { namespace: "default", workflowId: "sendNoticeBatch/june" };

const folder = await temporaryFolder();
let store: DocumentStore;
const database = ofFile(testDatabase);
beforeEach(async () => {
  await rm(folder, { recursive: true });
  store = new DocumentStore(new DirectoryDriver(folder), ring);
  await database.pool.query("truncate trustflow.documents, trustflow.batches cascade");
});

/** The batch is open all the while. */
async function run(dryRun = false) {
  const here = knownNamespace();
  here.processes = [{ workflowId: batch.workflowId, running: true }];
  const { unfinishedFiles, archiveParts } = await cleanUp({
    retention,
    pool: database.pool,
    codecRing: ring,
    namespace: "default",
    clientFor: clientOf({ default: here }, ring),
    documents: store,
    dryRun,
  });
  return { unfinishedFiles, archiveParts };
}

async function filesIn(...path: string[]): Promise<string[]> {
  const found = await readdir(join(folder, ...path), { withFileTypes: true, recursive: true });
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

test("an unfinished file of a document or of a data key goes after a day", async () => {
  const id = "00112233445566778899aabbccddeeff";
  await store.put(Buffer.from("one"), "text/plain", { id, process: batch });
  const [keyFolder = ""] = await readdir(join(folder, "keys"));
  const kept = await filesIn();
  for (const place of [[], ["00"], ["keys", keyFolder]])
    for (const [hours, of] of [
      [25, "a"],
      [23, "b"],
    ] as const) {
      const name = place.length === 0 ? "scratch" : id;
      const file = join(folder, ...place, `.${name}.${of.repeat(16)}`);
      await writeFile(file, "");
      await utimes(file, hoursAgo(hours), hoursAgo(hours));
    }
  await utimes(join(folder, "00", id), hoursAgo(99), hoursAgo(99));
  expect(await run(true)).toEqual({ unfinishedFiles: 3, archiveParts: 0 });
  expect(await filesIn()).toHaveLength(kept.length + 6);
  expect(await run()).toEqual({ unfinishedFiles: 3, archiveParts: 0 });
  const left = await filesIn();
  expect(left.filter((name) => kept.includes(name))).toEqual(expect.arrayContaining(kept));
  expect(left.filter((name) => !kept.includes(name)).map((name) => name.at(-1))).toEqual([
    ...["b", "b", "b"],
  ]);
});

async function archived(hours: number, id = uploadId(), kind: "archive" | "submitted" = "archive") {
  await addOwner(database.pool, batch, [{ id, kind }]);
  await database.pool.query("update trustflow.documents set owned_at = $2 where id = $1", [
    id,
    hoursAgo(hours),
  ]);
  return store.put(Buffer.from("part"), "application/octet-stream", { id, process: batch });
}

test("a part that was stored and never added to the archive goes after a day, though its process is open", async () => {
  await new BatchItems(database.pool).open(batch, 1);
  await new BatchItems(database.pool).noteListed(batch, [{ evidenceId: "n" }]);
  const loose = await archived(25);
  const added = await archived(25);
  const part = { document: added.uri, size: added.size, entries: Buffer.from("[]") };
  expect(await new ArchiveParts(database.pool).add(batch, part, ["n"])).toBe(true);
  const kept = [
    added,
    await archived(23),
    await archived(25, derivedDocumentId("the archive")),
    await archived(25, uploadId(), "submitted"),
  ];
  const there = () => Promise.all([loose, ...kept].map(({ uri }) => store.exists(uri)));
  expect(await run(true)).toEqual({ unfinishedFiles: 0, archiveParts: 1 });
  expect(await there()).toEqual([true, true, true, true, true]);
  expect(await run()).toEqual({ unfinishedFiles: 0, archiveParts: 1 });
  expect(await there()).toEqual([false, true, true, true, true]);
  const { rowCount } = await database.pool.query("select from trustflow.documents");
  expect(rowCount).toBe(4);
  expect(await run()).toEqual({ unfinishedFiles: 0, archiveParts: 0 });
});
