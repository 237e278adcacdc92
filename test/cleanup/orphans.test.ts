// Which documents the clean-up may remove: uploads that no process ever took, after days in quarantine. Absence proves nothing.
import { beforeEach, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { cleanUp, type CleanupOptions } from "../../src/cleanup/cleanup.js";
import { quarantine, quarantined, release } from "../../src/cleanup/quarantine.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { derivedDocumentId, documentIdOf, isUploadId } from "../../src/documents/document-id.js";
import { DocumentStore } from "../../src/documents/store.js";
import { addOwner } from "../../src/journal/ownership.js";
import { ownUncommitted, untilLockAwaited } from "../harness/documents/document-owners.js";
import { clientOf, knownNamespace } from "../harness/stack/known-processes.js";
import type { KnownNamespace } from "../harness/stack/known-processes.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { retention } from "./support.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";

const DAY_MS = 86_400_000;
const ring = KeyRing.parse(generateKeyRing());
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
const processKey = { namespace: "default", workflowId: "sendPostal/1" };

let folder: string;
let store: DocumentStore;
let here: KnownNamespace;
let elsewhere: KnownNamespace;

const database = ofFile(testDatabase);

beforeEach(async () => {
  await database.pool.query(
    "truncate trustflow.effects, trustflow.documents, trustflow.document_quarantine",
  );
  await migratedDaysAgo(1_000);
  folder = await temporaryFolder();
  store = new DocumentStore(new DirectoryDriver(folder), ring);
  here = knownNamespace();
  elsewhere = knownNamespace();
});

async function migratedDaysAgo(days: number): Promise<void> {
  await database.pool.query(
    "update trustflow.migrations set applied_at = $1 where name = '0001-tables'",
    [daysAgo(days)],
  );
}

async function run(options: Partial<CleanupOptions> = {}) {
  const { documents } = await cleanUp({
    retention,
    pool: database.pool,
    codecRing: ring,
    namespace: "default",
    clientFor: clientOf({ default: here, other: elsewhere }, ring),
    documents: store,
    ...options,
  });
  return documents;
}

/** Stored so many days ago; with an id, as a process stores what it fetched. */
async function stored(days: number, id?: string): Promise<string> {
  const { uri } = await store.put(Buffer.from(`%PDF ${randomUUID()}`), "application/pdf", {
    ...(id !== undefined && { id }),
  });
  await dated(documentIdOf(uri), days);
  return uri;
}

const dated = (id: string, days: number) =>
  utimes(join(folder, id.slice(0, 2), id), daysAgo(days), daysAgo(days));

/** In quarantine since so many days. */
async function quarantinedFor(days: number): Promise<string> {
  const uri = await stored(60);
  await quarantine(database.pool, new Map([[documentIdOf(uri), daysAgo(60)]]));
  await database.pool.query(
    "update trustflow.document_quarantine set quarantined_at = $2 where id = $1",
    [documentIdOf(uri), daysAgo(days)],
  );
  return uri;
}

const inQuarantine = async () => (await quarantined(database.pool)).map(({ id }) => id);
const takes = (uri: string, of = processKey) =>
  addOwner(database.pool, of, [{ id: documentIdOf(uri), kind: "submitted" }]);

async function effectOf(workflowId: string, namespace = "default"): Promise<void> {
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, provider, state, created_at)
     values ($1, $2, $3, 'submit', '0', 'evi-post', 'answered', now() - interval '1 hour')`,
    [randomUUID(), namespace, workflowId],
  );
}

test("an upload that no process took goes into quarantine, and is removed when its days there are over", async () => {
  const [orphan, young] = [await stored(31), await stored(29)];
  expect(await run()).toEqual({ quarantined: 1, removed: 0 });
  expect(await inQuarantine()).toEqual([documentIdOf(orphan)]);
  const due = await quarantinedFor(15);
  expect(await run()).toEqual({ quarantined: 0, removed: 1 });
  const there = await Promise.all([orphan, young, due].map((uri) => store.exists(uri)));
  expect(there).toEqual([true, true, false]);
  expect(await inQuarantine()).toEqual([documentIdOf(orphan)]);
});

test("what a process took stays, however old it is and whatever Temporal forgot", async () => {
  const uri = await stored(900);
  await takes(uri);
  expect(await run()).toEqual({ quarantined: 0, removed: 0 });
  expect(await store.exists(uri)).toBe(true);
});

test("what was stored before the tables were made is never an orphan", async () => {
  await migratedDaysAgo(50);
  const [before, after] = [await stored(51), await stored(49)];
  expect(await run()).toEqual({ quarantined: 1, removed: 0 });
  expect(await inQuarantine()).toEqual([documentIdOf(after)]);
  expect(await store.exists(before)).toBe(true);
});

test("a document without the id of an upload is none, even where a restored store shows it as new", async () => {
  const random = "0123456789abcdef0123456789abcdef";
  expect(isUploadId(random)).toBe(false);
  await stored(40, random);
  expect(await run()).toEqual({ quarantined: 0, removed: 0 });
});

test("a process that took a document while it was put into quarantine keeps it all the same", async () => {
  const uri = await quarantinedFor(15);
  // As where both commits came at once: neither saw the other.
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ($1, 'default', 'w', 'submitted')",
    [documentIdOf(uri)],
  );
  expect(await inQuarantine()).toEqual([]);
  expect(await run()).toEqual({ quarantined: 0, removed: 0 });
  expect(await store.exists(uri)).toBe(true);
});

test("a process that takes a document while it is removed waits, and one that was first keeps it", async () => {
  const uri = await quarantinedFor(15);
  let taking: Promise<void> | undefined;
  let isTaken = false;
  const slow = Object.assign(Object.create(store) as DocumentStore, {
    list: () => store.list(),
    removeUnfinished: async () => 0,
    async delete(removed: string) {
      taking = takes(removed).then(() => void (isTaken = true));
      await untilLockAwaited(database.pool);
      expect(isTaken).toBe(false);
      await store.delete(removed);
    },
  });
  expect(await run({ documents: slow })).toEqual({ quarantined: 0, removed: 1 });
  await taking;
  expect(await store.exists(uri)).toBe(false);

  const other = await quarantinedFor(15);
  const commit = await ownUncommitted(database.pool, processKey, other);
  const removing = run();
  await untilLockAwaited(database.pool);
  await commit();
  expect(await removing).toEqual({ quarantined: 0, removed: 0 });
  expect(await store.exists(other)).toBe(true);
});

test("what a person released stays, and is not put back", async () => {
  const uri = await quarantinedFor(15);
  const id = documentIdOf(uri);
  expect(await release(database.pool, [id, "00".repeat(16)])).toEqual([id]);
  expect(await release(database.pool, [id])).toEqual([]);
  expect(await inQuarantine()).toEqual([]);
  expect(await run()).toEqual({ quarantined: 0, removed: 0 });
  expect(await store.exists(uri)).toBe(true);
});

test("a process whose first activity has not run owns what its input names", async () => {
  const [waiting, due, nobody] = [await stored(40), await quarantinedFor(20), await stored(40)];
  here.processes = [
    { workflowId: "sendMessage/none", running: true },
    { workflowId: "sendPostal/waits", running: true, input: { document: { uri: waiting } } },
  ];
  await database.pool.query("insert into trustflow.documents values ('aa', 'other', 'w', 'x')");
  elsewhere.processes = [
    {
      workflowId: "signEnvelope/closed",
      running: false,
      input: { documents: [{ document: { uri: due } }] },
    },
  ];
  const counted = await run({ dryRun: true });
  expect(await run()).toEqual(counted);
  expect(counted).toEqual({ quarantined: 1, removed: 0 });
  expect(await inQuarantine()).toEqual([documentIdOf(nobody)]);
  const { rows } = await database.pool.query(
    "select namespace, workflow_id, id from trustflow.documents where id <> 'aa' order by 1",
  );
  expect(rows).toEqual([
    { namespace: "default", workflow_id: "sendPostal/waits", id: documentIdOf(waiting) },
    { namespace: "other", workflow_id: "signEnvelope/closed", id: documentIdOf(due) },
  ]);
});

test("a process of which only other documents are owned is asked what its input names", async () => {
  const uri = await quarantinedFor(20);
  const workflowId = "sendPostal/restored";
  here.processes = [{ workflowId, running: true, input: { document: { uri } } }];
  const affidavit = { id: derivedDocumentId("evi-post", "later"), kind: "affidavit" as const };
  await addOwner(database.pool, { namespace: "default", workflowId }, [affidavit]);
  expect(await run()).toEqual({ quarantined: 0, removed: 0 });
  expect(await store.exists(uri)).toBe(true);
  expect(await inQuarantine()).toEqual([]);
});

test.each<[string, boolean, { began?: number; owned?: number; effect?: number }]>([
  ["has taken an effect since it began owns all that its input names", false, {}],
  ["has taken no effect may own a part of it: it is asked", true, { effect: Infinity }],
  ["was started again under its id may name others: it is asked", true, { owned: 6, effect: 6 }],
  ["took its effect before it was started again is asked", true, { effect: 6 }],
  ["began before the tables were made is asked", true, { began: 1_001 }],
])("a process that %s", async (_, isAsked, { began = 5, owned = 4, effect = 4 }) => {
  const [uri, workflowId] = [await stored(40), "signEnvelope/several"];
  here.processes = [
    {
      workflowId,
      running: true,
      startedAt: daysAgo(began),
      input: { documents: [{ document: { uri } }] },
    },
  ];
  await takes(`document:${"0".repeat(32)}`, { namespace: "default", workflowId });
  await database.pool.query("update trustflow.documents set owned_at = $1", [daysAgo(owned)]);
  if (effect < Infinity) {
    await effectOf(workflowId);
    await database.pool.query("update trustflow.effects set created_at = $1", [daysAgo(effect)]);
  }
  expect(await run()).toEqual({ quarantined: isAsked ? 0 : 1, removed: 0 });
  expect(here.read).toEqual(isAsked ? [workflowId] : []);
});

test("a list of processes that breaks off, or a history that cannot be read, removes nothing", async () => {
  const [orphan, due] = [await stored(40), await quarantinedFor(20)];
  here.processes = [{ workflowId: "sendPostal/1", running: true }];
  here.list = "breaks off";
  await expect(run()).rejects.toThrow("the list broke off");
  here.list = "whole";
  here.historiesFail = true;
  await expect(run()).rejects.toThrow("the history cannot be read");
  expect(await Promise.all([orphan, due].map((uri) => store.exists(uri)))).toEqual([true, true]);
  expect(await inQuarantine()).toEqual([documentIdOf(due)]);
});

test("a list of documents that breaks off removes nothing", async () => {
  const [, due] = [await stored(40), await quarantinedFor(20)];
  const broken = Object.assign(Object.create(store) as DocumentStore, {
    async *list() {
      for await (const one of store.list()) {
        yield one;
        throw new Error("the disk is away");
      }
    },
    delete: (uri: string) => store.delete(uri),
    removeUnfinished: async () => 0,
  });
  await expect(run({ documents: broken })).rejects.toThrow("the disk is away");
  expect(await store.exists(due)).toBe(true);
  expect(await inQuarantine()).toEqual([documentIdOf(due)]);
});

/** Whether the database has noted a clean-up that reached its end. */
async function endedNow(): Promise<boolean | undefined> {
  const { rows } = await database.pool.query<{ isNow: boolean }>(
    `select ended_at > now() - interval '1 hour' as "isNow" from trustflow.cleanups`,
  );
  return rows[0]?.isNow;
}

test("an empty or lagging list of processes removes nothing, and does not count as a clean-up: it lacks what the journal and Temporal know", async () => {
  const [orphan, due] = [await stored(40), await quarantinedFor(20)];
  await effectOf("sendPostal/known");
  here.processes = [{ workflowId: "sendPostal/known", running: true }];
  here.list = "empty";
  await database.pool.query("update trustflow.cleanups set ended_at = '2000-01-01'");
  const report = await run();
  expect(report).toEqual({
    quarantined: 0,
    removed: 0,
    skipped: "Temporal's list of default lacks sendPostal/known",
  });
  expect(await Promise.all([orphan, due].map((uri) => store.exists(uri)))).toEqual([true, true]);
  expect(await endedNow()).toBe(false);
  here.list = "whole";
  await run({ dryRun: true });
  expect(await endedNow()).toBe(false);
  expect(await run()).toEqual({ quarantined: 1, removed: 1 });
  expect(await endedNow()).toBe(true);
});

test("a namespace that is not there removes nothing", async () => {
  const due = await quarantinedFor(20);
  await database.pool.query("insert into trustflow.documents values ('aa', 'gone', 'w', 'x')");
  await expect(run()).rejects.toThrow("namespace gone not found");
  expect(await store.exists(due)).toBe(true);
});
