// Documents are deleted after the period of their kind, counted from the end of their process: never without a period, and
// never if the process is open or its end is unknown.
import { beforeEach, expect, test } from "vitest";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { expireDocuments } from "../../src/cleanup/document-retention.js";
import type { RetentionOptions } from "../../src/cleanup/document-retention.js";
import { Families } from "../../src/cleanup/executions.js";
import type { Damaged } from "../../src/cleanup/release-documents.js";
import { dataKeyId } from "../../src/crypto/data-key.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { documentIdOf } from "../../src/documents/document-id.js";
import { DocumentStore } from "../../src/documents/store.js";
import { DocumentStoreFullError } from "../../src/errors/index.js";
import { addOwner } from "../../src/journal/ownership.js";
import { createPool } from "../../src/postgres/pool.js";
import type { DocumentKind } from "../../src/journal/ownership.js";
import { ownUncommitted, untilLockAwaited } from "../harness/documents/document-owners.js";
import { clientOf, knownNamespace } from "../harness/stack/known-processes.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";
import { damage } from "./support.js";

const ring = KeyRing.parse(generateKeyRing());
const now = new Date("2030-06-01T00:00:00Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
let folder: string;
let store: DocumentStore;
/** By workflow id; what is not here Temporal does not have. */
let processes: Record<string, "open" | Date>;
let damaged: Damaged[];
/** What Temporal's lists show of processes with documents. */
const known = { default: knownNamespace(), other: knownNamespace() };
const clientFor = clientOf(known, ring);

const database = ofFile(testDatabase);
/** With the one connection that its transaction has: nothing may wait for another one then. */
const single = ofFile(() => {
  const pool = createPool(database.url, { max: 1, connectTimeoutMs: 5_000 });
  return { pool, close: () => pool.end() };
});
beforeEach(async () => {
  await database.pool.query("truncate trustflow.documents, trustflow.effects");
  Object.assign(known, { default: knownNamespace(), other: knownNamespace() });
  folder = await temporaryFolder();
  store = new DocumentStore(new DirectoryDriver(folder), ring);
  processes = {};
  damaged = [];
});

const client = {
  options: { namespace: "default" },
  connection: clientFor("default").connection,
  workflowService: {
    getWorkflowExecutionHistory: clientFor("default").workflowService.getWorkflowExecutionHistory,
    describeNamespace: async () => ({}),
    describeWorkflowExecution: async ({ execution }: { execution: { workflowId: string } }) => {
      const end = processes[execution.workflowId];
      if (end === undefined) throw Object.assign(new Error("not found"), { code: 5 });
      if (end === "open") return { workflowExecutionInfo: { status: 1 } };
      const closeTime = { seconds: end.getTime() / 1_000 };
      return { workflowExecutionInfo: { status: 2, closeTime } };
    },
  },
} as unknown as Client;

const familiesBy = (own: Client) =>
  new Families({
    pool: single.pool,
    clientFor: (namespace) => (namespace === "default" ? own : clientFor(namespace)),
    now,
  });

function run(options: Partial<RetentionOptions> = {}) {
  return expireDocuments({
    pool: single.pool,
    documents: store,
    days: { affidavitDays: 30, submittedDays: 10 },
    families: familiesBy(client),
    onDamaged: (one) => damaged.push(one),
    clients: [client, clientFor("other")],
    codecRing: ring,
    dryRun: false,
    now,
    ...options,
  });
}

async function document(workflowId: string, kind: DocumentKind, uri?: string): Promise<string> {
  const processKey = { namespace: "default", workflowId };
  const stored =
    uri ?? (await store.put(Buffer.from(workflowId), "a/b", { process: processKey })).uri;
  await database.pool.query(
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ($1, 'default', $2, $3)",
    [stored.slice("document:".length), workflowId, kind],
  );
  return stored;
}

const areThere = (uris: string[]) => Promise.all(uris.map((uri) => store.exists(uri)));

test("each kind goes after its own days from the end; one without a period stays", async () => {
  processes = { old: daysAgo(31), young: daysAgo(11) };
  const uris = [
    await document("old", "affidavit"),
    await document("old", "submitted"),
    await document("old", "signed"),
    await document("young", "affidavit"),
    await document("young", "submitted"),
  ];
  const expected = { expired: { affidavit: 1, submitted: 2 }, unknownEnd: 0 };
  expect(await run({ dryRun: true })).toEqual(expected);
  expect(await areThere(uris)).toEqual([true, true, true, true, true]);
  expect(await run()).toEqual(expected);
  expect(await areThere(uris)).toEqual([false, false, true, true, false]);
  expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
});

test("without any period nothing goes, but the ends are written down: a later period knows them, though Temporal has forgotten", async () => {
  processes = { finished: daysAgo(31) };
  const uri = await document("finished", "affidavit");
  expect(await run({ days: {} })).toEqual({ expired: {}, unknownEnd: 0 });
  processes = {};
  expect(await areThere([uri])).toEqual([true]);
  expect(await run()).toEqual({ expired: { affidavit: 1 }, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([false]);
});

test.each(["serveNotice/1", "sendPostal/1.post"])(
  "a notice keeps its affidavits while %s is open, whose result or sibling names them, and counts from the end of the last",
  async (open) => {
    processes = { "sendNotice/1.notice": daysAgo(31), [open]: "open" };
    const uri = await document("sendNotice/1.notice", "affidavit");
    await run({ days: {} });
    expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
    // Temporal may have forgotten the notice by then.
    processes = { [open]: daysAgo(29) };
    expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
    expect(await areThere([uri])).toEqual([true]);
    const tomorrow = new Date(now.getTime() + 86_400_000);
    expect(await run({ now: tomorrow })).toMatchObject({ expired: { affidavit: 1 } });
  },
);

test("an affidavit whose period is counted already stays once the parent is open again", async () => {
  processes = { "sendNotice/1.notice": daysAgo(31) };
  const uri = await document("sendNotice/1.notice", "affidavit");
  await run({ days: {} });
  processes["serveNotice/1"] = "open";
  expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([true]);
});

test("a process that was started again counts from its last end", async () => {
  processes = { again: daysAgo(31) };
  const uri = await document("again", "affidavit");
  await run({ days: {} });
  processes = { again: "open" };
  expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
  processes = { again: daysAgo(29) };
  expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
  processes = { again: daysAgo(40) };
  await run({ days: {} });
  processes = { again: daysAgo(5) };
  expect(await run()).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([true]);
  expect(await run({ now: new Date(now.getTime() + 26 * 86_400_000) })).toMatchObject({
    expired: { affidavit: 1 },
  });
});

test("a process that took its document again counts from its last end, though Temporal has forgotten both runs by then", async () => {
  const uri = await document("sendPostal/again", "submitted");
  const sibling = await document("sendNotice/a.notice", "submitted");
  const letter = await document("sendPostal/a.post", "submitted");
  const taken = [
    { workflowId: "sendPostal/again", uri },
    { workflowId: "sendPostal/a.post", uri: letter },
  ];
  const at = (days: number) => ({ now: daysAgo(days), days: { submittedDays: 365 } });
  const endAt = (days: number) =>
    Object.fromEntries(["sendPostal/again", "serveNotice/a"].map((id) => [id, daysAgo(days)]));
  processes = endAt(400);
  await run(at(399));
  for (const { workflowId, uri: own } of taken)
    await addOwner(database.pool, { namespace: "default", workflowId }, [
      { id: documentIdOf(own), kind: "submitted" },
    ]);
  processes = endAt(110);
  await run(at(109));
  processes = {};
  expect(await run(at(34))).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri, sibling, letter])).toEqual([true, true, true]);
  expect(await run({ days: { submittedDays: 109 } })).toMatchObject({ expired: { submitted: 3 } });
});

test("a damaged document that another process owns too is named and stays as it is; the others go", async () => {
  processes = { first: daysAgo(31), second: "open", third: daysAgo(31) };
  const shared = await document("first", "affidavit");
  await document("second", "affidavit", shared);
  const other = await document("third", "affidavit");
  await damage(folder, shared);
  expect(await run()).toEqual({ expired: { affidavit: 2 }, unknownEnd: 0 });
  expect(damaged).toEqual([
    { uri: shared, owner: "second", problem: expect.stringContaining(shared) },
  ]);
  expect(await areThere([shared, other])).toEqual([true, false]);
  expect(await ownersOf(shared)).toEqual(["default second"]);
});

class FullDisk extends DirectoryDriver {
  override replace = () => Promise.reject(new DocumentStoreFullError(new Error("ENOSPC")));
}
const keyOf = (workflowId: string) => dataKeyId({ namespace: "default", workflowId });

test.each([
  ["the disk is full", () => new FullDisk(folder)],
  [
    "a restore has left out its key",
    () => {
      rmSync(join(folder, "keys", keyOf("first").slice(0, 2), keyOf("first")));
      return new DirectoryDriver(folder);
    },
  ],
])(
  "while %s, a document that another process owns too stays, and the others go",
  async (_, driver) => {
    processes = { first: daysAgo(31), second: "open", third: daysAgo(31) };
    const shared = await document("first", "affidavit");
    await document("second", "affidavit", shared);
    const other = await document("third", "affidavit");
    const left = expect.stringMatching(/is full|no data key/);
    expect(await run({ documents: new DocumentStore(driver(), ring) })).toEqual({
      ...{ expired: { affidavit: 1 }, unknownEnd: 0, left },
    });
    expect(await areThere([shared, other])).toEqual([true, false]);
    expect(await ownersOf(shared)).toEqual(["default first", "default second"]);
  },
);

test("if the end is unknown, the document stays and is counted", async () => {
  const uri = await document("forgotten", "affidavit");
  expect(await run()).toEqual({ expired: {}, unknownEnd: 1 });
  expect(await areThere([uri])).toEqual([true]);
});

test("where Temporal cannot be asked, or the store is not here, nothing goes", async () => {
  processes = { old: daysAgo(31) };
  const uri = await document("old", "affidavit");
  const workflowService = { describeWorkflowExecution: () => Promise.reject(new Error("away")) };
  const away = { options: client.options, workflowService };
  const families = familiesBy(away as unknown as Client);
  await expect(run({ families })).rejects.toThrow("away");
  expect(await run({ documents: undefined })).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([true]);
});

const ownersOf = async (uri: string) => {
  const { rows } = await database.pool.query<{ owner: string }>(
    "select namespace || ' ' || workflow_id as owner from trustflow.documents where id = $1 order by 1",
    [documentIdOf(uri)],
  );
  return rows.map(({ owner }) => owner);
};
const open = (workflowId: string, uri: string) => ({
  workflowId,
  running: true,
  input: { document: { uri } },
});

test("a document that an open process names, which has no row yet, passes over to it, in whatever namespace it is", async () => {
  processes = { first: daysAgo(31), second: daysAgo(31), third: daysAgo(31) };
  const uris = [
    await document("first", "submitted"),
    await document("second", "submitted"),
    await document("third", "submitted"),
  ];
  const [here = "", there = "", closed = ""] = uris;
  known.default.processes = [
    open("sendPostal/here", here),
    { ...open("sendPostal/closed", closed), running: false },
  ];
  known.other.processes = [open("sendPostal/there", there)];
  await run({ dryRun: true });
  expect(await ownersOf(here)).toEqual(["default first"]);
  await run();
  expect(await Promise.all(uris.map(ownersOf))).toEqual([
    ["default sendPostal/here"],
    ["other sendPostal/there"],
    [],
  ]);
  expect(await areThere(uris)).toEqual([true, true, false]);
  for (const workflowId of ["first", "second"])
    await store.dataKeys.erase({ namespace: "default", workflowId });
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  expect((await fresh.open(there)).toString()).toBe("second");
  processes = { "sendPostal/here": daysAgo(11) };
  known.default.processes = [];
  await run();
  expect(await areThere([here])).toEqual([false]);
});

test("the lists are read once, and only where a document is due; one that cannot be trusted lets everything stay", async () => {
  processes = { young: daysAgo(9) };
  await document("young", "submitted");
  known.default.list = "breaks off";
  await run();
  expect(known.default.lists).toBe(0);
  processes = { old: daysAgo(31), "sendPostal/open": "open" };
  const uris = [await document("old", "submitted"), await document("old", "affidavit")];
  await expect(run()).rejects.toThrow("the list broke off");
  known.default.list = "whole";
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, created_at)
     values (gen_random_uuid(), 'default', 'sendPostal/open', 'submit', '0', 'answered', now() - interval '1 hour')`,
  );
  expect(await run()).toEqual({
    expired: {},
    unknownEnd: 0,
    skipped: "Temporal's list of default lacks sendPostal/open",
  });
  expect(await areThere(uris)).toEqual([true, true]);
  known.default.processes = [open("sendPostal/open", "")];
  known.default.historiesFail = true;
  await expect(run()).rejects.toThrow("the history cannot be read");
  expect(await areThere(uris)).toEqual([true, true]);
  known.default.historiesFail = false;
  known.default.lists = 0;
  expect(await run()).toMatchObject({ expired: { submitted: 1, affidavit: 1 } });
  expect(known.default.lists).toBe(1);
});

test("a process that is started again, and takes its document before its turn comes, keeps it", async () => {
  processes = { again: daysAgo(31) };
  const uri = await document("again", "submitted");
  const commit = await ownUncommitted(
    database.pool,
    { namespace: "default", workflowId: "again" },
    uri,
  );
  const removing = run();
  await untilLockAwaited(database.pool);
  processes = { again: "open" };
  await commit();
  expect(await removing).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([true]);
  expect(await ownersOf(uri)).toEqual(["default again"]);
});
