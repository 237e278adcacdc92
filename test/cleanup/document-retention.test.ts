// Documents go a stated time after the end of their process, by their kind: never without a period, never of a process that is open or
// whose end nobody knows.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Client } from "@temporalio/client";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expireDocuments } from "../../src/cleanup/document-retention.js";
import type { RetentionOptions } from "../../src/cleanup/document-retention.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import type { DocumentKind } from "../../src/journal/ownership.js";
import { testDatabase } from "../support/postgres.js";
import type { TestDatabase } from "../support/postgres.js";

const ring = KeyRing.parse(generateKeyRing());
const now = new Date("2030-06-01T00:00:00Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
let database: TestDatabase;
let folder: string;
let store: DocumentStore;
/** By workflow id; what is not here Temporal does not have. */
let processes: Record<string, "open" | Date>;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query("truncate trustflow.documents");
  folder = await mkdtemp(join(tmpdir(), "trustflow-retention-"));
  store = new DocumentStore(new DirectoryDriver(folder), ring);
  processes = {};
});
afterEach(() => rm(folder, { recursive: true }));

const client = {
  options: { namespace: "default" },
  workflowService: {
    describeNamespace: async () => ({}),
    describeWorkflowExecution: async ({ execution }: { execution: { workflowId: string } }) => {
      const process = processes[execution.workflowId];
      if (process === undefined) throw Object.assign(new Error("not found"), { code: 5 });
      if (process === "open") return { workflowExecutionInfo: { status: 1 } };
      const closeTime = { seconds: process.getTime() / 1_000 };
      return { workflowExecutionInfo: { status: 2, closeTime } };
    },
  },
} as unknown as Client;

function run(options: Partial<RetentionOptions> = {}) {
  return expireDocuments({
    pool: database.pool,
    documents: store,
    days: { affidavitDays: 30, submittedDays: 10 },
    clientFor: () => client,
    dryRun: false,
    now,
    ...options,
  });
}

async function document(workflowId: string, kind: DocumentKind, uri?: string): Promise<string> {
  const process = { namespace: "default", workflowId };
  const stored = uri ?? (await store.put(Buffer.from(workflowId), "a/b", { process })).uri;
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

test("an open process keeps its documents", async () => {
  processes = { open: "open" };
  const uri = await document("open", "affidavit");
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

test("where nobody knows the end, the document stays and is counted", async () => {
  const uri = await document("forgotten", "affidavit");
  expect(await run()).toEqual({ expired: {}, unknownEnd: 1 });
  expect(await areThere([uri])).toEqual([true]);
});

test("a document of two processes goes with the second one", async () => {
  processes = { first: daysAgo(31), second: daysAgo(1) };
  const uri = await document("first", "affidavit");
  await document("second", "affidavit", uri);
  expect(await run()).toMatchObject({ expired: { affidavit: 1 } });
  await store.dataKeys.erase({ namespace: "default", workflowId: "first" });
  const fresh = new DocumentStore(new DirectoryDriver(folder), ring);
  expect((await fresh.open(uri)).toString()).toBe("first");
  processes = {};
  expect(await run({ now: new Date(now.getTime() + 30 * 86_400_000) })).toMatchObject({
    expired: { affidavit: 1 },
  });
  expect(await areThere([uri])).toEqual([false]);
});

test("where Temporal cannot be asked, or the store is not here, nothing goes", async () => {
  processes = { old: daysAgo(31) };
  const uri = await document("old", "affidavit");
  const workflowService = { describeWorkflowExecution: () => Promise.reject(new Error("away")) };
  const away = { options: client.options, workflowService };
  await expect(run({ clientFor: () => away as unknown as Client })).rejects.toThrow("away");
  expect(await run({ documents: undefined })).toEqual({ expired: {}, unknownEnd: 0 });
  expect(await areThere([uri])).toEqual([true]);
});
