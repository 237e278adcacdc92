import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Client } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanUp, type CleanupOptions } from "../../src/cleanup.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import { EncryptionCodec } from "../../src/temporal/codec.js";
import { testDatabase, type TestDatabase } from "../support/postgres.js";

interface Execution {
  workflowId: string;
  runId: string;
  /** Else closed. */
  running: boolean;
  startedDaysAgo: number;
  /** What a payload of its history says. */
  text?: string;
}

const dayMs = 86_400_000;
const ring = KeyRing.parse(generateKeyRing());
const retention = {
  inboxDays: 30,
  parkedDays: 365,
  journalDays: 400,
  documentOrphanDays: 10,
  batchSize: 2,
};
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

let database: TestDatabase;
let folder: string;
let executions: Execution[];
/** Days of another namespace than "default", and what runs there. */
let elsewhere: { historyDays: number; executions: Execution[] };
let queries: string[];
let historyDays: number;
let unreadable: boolean;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  await database.pool.query(
    "truncate trustflow.callbacks, trustflow.effects, trustflow.correlations",
  );
  folder = await mkdtemp(join(tmpdir(), "trustflow-cleanup-"));
  executions = [];
  elsewhere = { historyDays: 90, executions: [] };
  queries = [];
  historyDays = 90;
  unreadable = false;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** As much of Temporal's visibility as the clean-up asks for. */
function client(namespace: string): Client {
  if (!namespace) throw new Error("a client is always that of a namespace");
  const here = namespace === "default" ? { historyDays, executions } : elsewhere;
  const codec = new EncryptionCodec(ring);
  return {
    connection: {
      workflowService: {
        describeNamespace: () => ({
          config: { workflowExecutionRetentionTtl: { seconds: here.historyDays * 86_400 } },
        }),
      },
    },
    workflow: {
      async *list({ query }: { query: string }) {
        queries.push(query);
        const before = /StartTime < "([^"]+)"/.exec(query)?.[1];
        for (const execution of here.executions) {
          const old = before !== undefined && daysAgo(execution.startedDaysAgo) < new Date(before);
          if (execution.running || old || query.includes("CloseTime")) yield execution;
        }
      },
      getHandle: (workflowId: string) => ({
        async fetchHistory() {
          if (unreadable) throw new Error("gone");
          const text =
            here.executions.find((execution) => execution.workflowId === workflowId)?.text ?? "";
          const [payload] = await codec.encode([
            {
              metadata: { encoding: Buffer.from("json/plain") },
              data: Buffer.from(JSON.stringify(text)),
            },
          ]);
          return {
            events: [{ activityTaskCompletedEventAttributes: { result: { payloads: [payload] } } }],
          };
        },
      }),
    },
  } as unknown as Client;
}

function run(options: Partial<CleanupOptions> = {}) {
  return cleanUp({
    retention,
    pool: database.pool,
    codecRing: ring,
    namespace: "default",
    clientFor: client,
    ...options,
  });
}

async function callback(workflowId: string, state: string, settledDaysAgo: number): Promise<void> {
  await database.pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, state, size, body, settled_at)
     values ('a', $1, 'evi-post', 'default', $2, $3, 1, 'x', $4)`,
    [randomUUID(), workflowId, state, state === "waiting" ? null : daysAgo(settledDaysAgo)],
  );
}

async function effect(
  workflowId: string,
  touchedDaysAgo: number,
  namespace = "default",
): Promise<void> {
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, updated_at)
     values ($1, $5, $2, 'submit', $3, 'answered', $4)`,
    [randomUUID(), workflowId, randomUUID(), daysAgo(touchedDaysAgo), namespace],
  );
}

async function left(
  table: "callbacks" | "effects" | "correlations",
  condition = "true",
): Promise<string[]> {
  const { rows } = await database.pool.query<{ workflow_id: string }>(
    `select workflow_id from trustflow.${table} where ${condition} order by workflow_id`,
  );
  return rows.map((row) => row.workflow_id);
}

test("bodies go after the inbox's days, rows and effects after the journal's, in batches", async () => {
  for (const name of ["old-1", "old-2", "old-3"]) {
    await callback(name, "delivered", 31);
    await effect(name, 401);
  }
  await callback("ancient", "late", 401);
  await callback("young", "delivered", 29);
  await effect("young", 399);
  const report = await run();
  expect(report).toMatchObject({ inboxBodies: 4, inboxRows: 1, journalRows: 3 });
  expect(await left("callbacks", "body is not null")).toEqual(["young"]);
  expect(await left("callbacks")).toEqual(["old-1", "old-2", "old-3", "young"]);
  expect(await left("effects")).toEqual(["young"]);
});

test("nothing of an open process is removed", async () => {
  executions = [{ workflowId: "open", runId: "r", running: true, startedDaysAgo: 1 }];
  await callback("open", "delivered", 500);
  await effect("open", 500);
  expect(await run()).toMatchObject({ inboxBodies: 0, inboxRows: 0, journalRows: 0 });
  expect(await left("callbacks", "body is not null")).toEqual(["open"]);
  expect(await left("effects")).toEqual(["open"]);
});

test("the journal outlives the history", async () => {
  executions = [{ workflowId: "remembered", runId: "r", running: false, startedDaysAgo: 450 }];
  await callback("remembered", "delivered", 410);
  await effect("remembered", 410);
  expect(await run()).toMatchObject({ inboxBodies: 1, inboxRows: 0, journalRows: 0 });
});

test("what waits for delivery stays, and what is parked until its own days are over", async () => {
  await callback("waiting", "waiting", 0);
  await callback("parked", "parked", 364);
  expect(await run()).toMatchObject({ inboxBodies: 0, parkedBodies: 0, inboxRows: 0 });
});

test("a parked callback loses its body after its days, and its row after the journal's", async () => {
  executions = [{ workflowId: "open", runId: "r", running: true, startedDaysAgo: 1 }];
  await callback("open", "parked", 500);
  await callback("parked", "parked", 366);
  await callback("ancient", "parked", 401);
  const first = { inboxBodies: 0, parkedBodies: 2, inboxRows: 0 };
  expect(await run({ dryRun: true })).toMatchObject(first);
  expect(await run()).toMatchObject(first);
  expect(await left("callbacks", "body is not null")).toEqual(["open"]);
  const second = { inboxBodies: 0, parkedBodies: 0, inboxRows: 1 };
  expect(await run({ dryRun: true })).toMatchObject(second);
  expect(await run()).toMatchObject(second);
  expect(await left("callbacks")).toEqual(["open", "parked"]);
});

test("a parked callback that belongs to an account alone goes as any other parked one", async () => {
  const { pool } = database;
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, reason, size, body, settled_at)
     select 'a', age, 'one-shot-signature', 'default', 'parked', 'unmatched', 1, 'x', now() - age * interval '1 day'
     from unnest(array[364, 366, 401]) as age`,
  );
  const { store: documents } = await storeWith([]);
  const first = { parkedBodies: 2, inboxRows: 0 };
  expect(await run({ documents, dryRun: true })).toMatchObject(first);
  expect(await run({ documents })).toMatchObject(first);
  const second = { parkedBodies: 0, inboxRows: 1 };
  expect(await run({ documents, dryRun: true })).toMatchObject(second);
  expect(await run({ documents })).toMatchObject(second);
});

test("a correlation goes with the journal's rows of its process", async () => {
  executions = [{ workflowId: "open", runId: "r", running: true, startedDaysAgo: 1 }];
  for (const [name, days] of [
    ["open", 500],
    ["old", 401],
    ["young", 399],
  ] as const) {
    await effect(name, days);
    await database.pool.query(
      "insert into trustflow.correlations values ('one-shot-signature', 'default', $1, 'default', $1)",
      [name],
    );
  }
  expect(await run({ dryRun: true })).toMatchObject({ journalRows: 1 });
  expect(await left("correlations")).toEqual(["old", "open", "young"]);
  expect(await run()).toMatchObject({ journalRows: 1 });
  expect(await left("correlations")).toEqual(["open", "young"]);
});

test("Temporal is asked once for each question, not once for each row", async () => {
  for (let row = 0; row < 20; row += 1) {
    await callback(`process-${row}`, "delivered", 450);
    await effect(`process-${row}`, 450);
  }
  await run();
  expect(queries).toHaveLength(2);
});

test("a dry run counts the same and removes nothing", async () => {
  executions = [{ workflowId: "open", runId: "r", running: true, startedDaysAgo: 1 }];
  for (const name of ["a", "b", "open"]) {
    await callback(name, "delivered", 450);
    await effect(name, 450);
    await effect(name, name === "b" ? 1 : 450);
  }
  const counted = await run({ dryRun: true });
  expect(await left("effects")).toHaveLength(6);
  expect(await left("callbacks", "body is not null")).toHaveLength(3);
  const removed = await run();
  expect(counted).toMatchObject({ dryRun: true, inboxBodies: 2, inboxRows: 2, journalRows: 2 });
  expect({ ...removed, dryRun: true }).toEqual(counted);
});

test("a journal shorter than the history or the inbox is refused before anything is removed", async () => {
  historyDays = 401;
  await effect("old", 500);
  await expect(run()).rejects.toThrow(
    "retention.journalDays is 400, below the namespace's history retention",
  );
  historyDays = 90;
  await expect(run({ retention: { ...retention, inboxDays: 401 } })).rejects.toThrow(
    "retention.inboxDays",
  );
  expect(await left("effects")).toEqual(["old"]);
});

test("an inbox longer than the history is told", async () => {
  historyDays = 20;
  expect((await run()).notes).toEqual([expect.stringContaining("retention.inboxDays is 30")]);
});

async function storeWith(ages: number[]) {
  const store = new DocumentStore(new DirectoryDriver(folder), ring);
  const uris: string[] = [];
  for (const age of ages) {
    const { uri } = await store.put(Buffer.from(`%PDF ${age}`), "application/pdf");
    const id = uri.slice("document:".length);
    await utimes(join(folder, id.slice(0, 2), id), daysAgo(age), daysAgo(age));
    uris.push(uri);
  }
  return { store, uris };
}

test("a document that no history names is an orphan; one that is named, young, or older than the histories stays", async () => {
  const { store, uris } = await storeWith([20, 21, 5, 95]);
  const [orphan = "", named = "", young = "", old = ""] = uris;
  executions = [
    { workflowId: "a", runId: "r", running: false, startedDaysAgo: 20, text: `{"uri":"${named}"}` },
  ];
  const { documents } = await run({ documents: store });
  expect(documents).toEqual({ removed: 1, inUse: 1 });
  const there = await Promise.all([orphan, named, young, old].map((uri) => store.exists(uri)));
  expect(there).toEqual([false, true, true, true]);
});

test("a document that a history of another namespace names stays", async () => {
  const { store, uris } = await storeWith([20, 21]);
  const [orphan = "", named = ""] = uris;
  await effect("theirs", 1, "other");
  elsewhere.executions = [
    { workflowId: "b", runId: "r", running: false, startedDaysAgo: 20, text: `{"uri":"${named}"}` },
  ];
  const { documents } = await run({ documents: store });
  expect(documents).toEqual({ removed: 1, inUse: 1 });
  expect(await Promise.all([store.exists(orphan), store.exists(named)])).toEqual([false, true]);
});

test("orphans are told by the namespace that forgets first", async () => {
  const { store, uris } = await storeWith([20]);
  await callback("ours", "waiting", 0);
  await effect("theirs", 1, "other");
  elsewhere.historyDays = 15;
  expect((await run({ documents: store })).documents).toEqual({ removed: 0, inUse: 0 });
  elsewhere.historyDays = 5;
  expect((await run({ documents: store })).documents.skipped).toContain("orphans cannot be told");
  expect(await store.exists(uris[0] ?? "")).toBe(true);
});

test("orphans are not told where histories are kept too briefly, nor where a history cannot be read", async () => {
  const { store, uris } = await storeWith([20]);
  historyDays = 10;
  expect((await run({ documents: store })).documents.skipped).toContain("orphans cannot be told");
  historyDays = 90;
  executions = [{ workflowId: "a", runId: "r", running: true, startedDaysAgo: 20, text: "x" }];
  unreadable = true;
  await expect(run({ documents: store })).rejects.toThrow("gone");
  expect(await store.exists(uris[0] ?? "")).toBe(true);
});
