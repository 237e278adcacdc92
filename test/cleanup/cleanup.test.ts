import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { BatchItems } from "../../src/batch/items/items.js";
import { randomUUID } from "node:crypto";
import { cleanUp, type CleanupOptions } from "../../src/cleanup/cleanup.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { clientOf, knownNamespace } from "../harness/stack/known-processes.js";
import type { KnownNamespace } from "../harness/stack/known-processes.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { ofFile } from "../harness/of-file.js";

const DAY_MS = 86_400_000;
const ring = KeyRing.parse(generateKeyRing());
const retention = {
  inboxDays: 30,
  parkedDays: 365,
  journalDays: 400,
  documentOrphanDays: 10,
  quarantineDays: 14,
  documents: {},
  batchSize: 2,
};
/** The days of the last row of each process, where the journal's are 400. */
const ages = Object.entries({ open: 500, old: 401, young: 399 });
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

let temporal: KnownNamespace;

const database = ofFile(testDatabase);

beforeEach(async () => {
  await database.pool.query(
    "truncate trustflow.callbacks, trustflow.effects, trustflow.correlations, trustflow.event_secrets",
  );
  temporal = knownNamespace();
});

function run(options: Partial<CleanupOptions> = {}) {
  return cleanUp({
    retention,
    pool: database.pool,
    codecRing: ring,
    namespace: "default",
    clientFor: clientOf({ default: temporal }, ring),
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
  provider: string | null = "evi-post",
): Promise<void> {
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, updated_at, provider)
     values ($1, $5, $2, 'submit', $3, 'answered', $4, $6)`,
    [randomUUID(), workflowId, randomUUID(), daysAgo(touchedDaysAgo), namespace, provider],
  );
}

async function left(
  table: "batches" | "callbacks" | "effects" | "correlations" | "event_secrets",
  condition = "true",
): Promise<string[]> {
  const { rows } = await database.pool.query<{ workflow_id: string }>(
    `select workflow_id from trustflow.${table} where ${condition} order by workflow_id`,
  );
  return rows.map((row) => row.workflow_id);
}

test("bodies go after the inbox's days, rows and effects after the journal's, in batches", async () => {
  temporal.historyDays = 30;
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

test("a machine whose date is wrong deletes nothing before its time: the database's clock counts", async () => {
  await callback("young", "delivered", 29);
  await effect("young", 399);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 500 * DAY_MS });
  onTestFinished(() => void vi.useRealTimers());
  expect(await run()).toMatchObject({ inboxBodies: 0, inboxRows: 0, journalRows: 0 });
});

test("what is known of a batch's notices goes when the journal has no row of it any more", async () => {
  temporal.processes = [{ workflowId: "open", running: true }];
  for (const [name, days] of ages) {
    const batch = { namespace: "default", workflowId: name };
    const items = new BatchItems(database.pool);
    await items.open(batch, 1);
    await items.noteListed(batch, [{ evidenceId: "n" }]);
    await effect(name, days);
  }
  await database.pool.query("update trustflow.batches set created_at = $1", [daysAgo(600)]);
  await run({ dryRun: true });
  expect(await left("batches")).toEqual(["old", "open", "young"]);
  await run();
  expect(await left("batches")).toEqual(["open", "young"]);
  const { rowCount } = await database.pool.query("select from trustflow.batch_items");
  expect(rowCount).toBe(2);
});

test.each(["serveNotice/1", "sendPostal/1.post"])(
  "nothing of a notice is removed while %s is open, nor its journal while Temporal has that one's history",
  async (other) => {
    const notice = "sendNotice/1.notice";
    temporal.processes = [{ workflowId: other, running: true }];
    await callback(notice, "delivered", 500);
    await effect(notice, 500);
    expect(await run()).toMatchObject({ inboxBodies: 0, inboxRows: 0, journalRows: 0 });
    temporal.processes = [{ workflowId: other, running: false }];
    expect(await run()).toMatchObject({ inboxBodies: 1, inboxRows: 0, journalRows: 0 });
    temporal.processes = [];
    expect(await run()).toMatchObject({ inboxRows: 1, journalRows: 1 });
  },
);

describe("a process that Temporal lacks counts as open while its rows are younger than the history retention", () => {
  const lostNote = expect.stringContaining("1 process(es), such as lost, count as open");
  const orphanOwner = `insert into trustflow.documents (id, namespace, workflow_id, kind, owned_at)
    values ('0', 'default', 'lost', $1, now() - interval '89 days')`;

  test.each<[string, () => Promise<unknown>]>([
    ["an effect", () => effect("lost", 89)],
    ["a document that it has fetched", () => database.pool.query(orphanOwner, ["affidavit"])],
    ["a delivered callback", () => callback("lost", "delivered", 89)],
  ])("%s", async (_, young) => {
    await callback("lost", "delivered", 91);
    await young();
    expect(await run({ dryRun: true })).toMatchObject({ inboxBodies: 0, notes: [lostNote] });
    expect(await run()).toMatchObject({ inboxBodies: 0, notes: [lostNote] });
    await database.pool.query("truncate trustflow.documents");
  });

  test.each<[string, () => Promise<unknown>]>([
    ["old ones alone", () => effect("lost", 91)],
    ["the withdrawal of a step that was never sent", () => effect("lost", 1, "default", null)],
    ["a late callback", () => callback("lost", "late", 1)],
    [
      "an owner that the clean-up may have added",
      () => database.pool.query(orphanOwner, ["submitted"]),
    ],
    [
      "those of an erased process",
      async () => {
        await effect("lost", 1);
        await database.pool.query(
          "insert into trustflow.erasures (namespace, workflow_id, erased_by) values ('default', 'lost', 'Ana')",
        );
      },
    ],
  ])("not by %s", async (_, others) => {
    await callback("lost", "delivered", 91);
    await others();
    expect(await run()).toMatchObject({ inboxBodies: 1, notes: [] });
    await database.pool.query("truncate trustflow.documents, trustflow.erasures");
  });
});

test("a parked callback loses its body after its days, and its row after the journal's; what waits for delivery stays", async () => {
  temporal.processes = [{ workflowId: "open", running: true }];
  await callback("open", "parked", 500);
  await callback("parked", "parked", 366);
  await callback("ancient", "parked", 401);
  await callback("young", "parked", 364);
  await callback("waiting", "waiting", 0);
  const first = { inboxBodies: 0, parkedBodies: 2, inboxRows: 0 };
  expect(await run({ dryRun: true })).toMatchObject(first);
  expect(await run()).toMatchObject(first);
  expect(await left("callbacks", "body is not null")).toEqual(["open", "waiting", "young"]);
  const second = { inboxBodies: 0, parkedBodies: 0, inboxRows: 1 };
  expect(await run({ dryRun: true })).toMatchObject(second);
  expect(await run()).toMatchObject(second);
  expect(await left("callbacks")).toEqual(["open", "parked", "waiting", "young"]);
});

test("a parked callback that belongs to an account alone goes as any other parked one", async () => {
  const { pool } = database;
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, reason, size, body, settled_at)
     select 'a', age, 'one-shot-signature', 'default', 'parked', 'unmatched', 1, 'x', now() - age * interval '1 day'
     from unnest(array[364, 366, 401]) as age`,
  );
  const first = { parkedBodies: 2, inboxRows: 0 };
  expect(await run({ dryRun: true })).toMatchObject(first);
  expect(await run()).toMatchObject(first);
  const second = { parkedBodies: 0, inboxRows: 1 };
  expect(await run({ dryRun: true })).toMatchObject(second);
  expect(await run()).toMatchObject(second);
});

test("a correlation goes with the journal's rows of its process", async () => {
  temporal.processes = [{ workflowId: "open", running: true }];
  for (const [name, days] of ages) {
    await effect(name, days);
    await database.pool.query(
      "insert into trustflow.correlations values ('one-shot-signature', 'default', $1, 'default', $1, $2)",
      [name, daysAgo(days)],
    );
  }
  expect(await run({ dryRun: true })).toMatchObject({ journalRows: 1 });
  expect(await left("correlations")).toEqual(["old", "open", "young"]);
  expect(await run()).toMatchObject({ journalRows: 1 });
  expect(await left("correlations")).toEqual(["open", "young"]);
});

test("a correlation of a process without a row in the journal goes after the journal's days, not while Temporal knows the process", async () => {
  temporal.processes = [{ workflowId: "open", running: false }];
  for (const [name, days] of ages)
    await database.pool.query(
      "insert into trustflow.correlations values ('video-identification', 'default', $1, 'default', $1, $2)",
      [name, daysAgo(days)],
    );
  await run({ dryRun: true });
  expect(await left("correlations")).toEqual(["old", "open", "young"]);
  await run();
  expect(await left("correlations")).toEqual(["open", "young"]);
});

test("the secrets of events go with the bodies of callbacks, and none of an open process", async () => {
  temporal.processes = [
    { workflowId: "open", running: true },
    { workflowId: "ended", running: false },
  ];
  for (const [name, ...days] of [
    ["open", 500],
    ["ended", 31],
    ["old-1", 31, 32],
    ["old-2", 31],
    ["young", 29],
    ["started-again", 31, 29],
  ] as const)
    for (const [event, age] of days.entries())
      await database.pool.query(
        "insert into trustflow.event_secrets values ('default', $1, $2, 'x', $3)",
        [name, event, daysAgo(age)],
      );
  await run({ dryRun: true });
  expect(await left("event_secrets")).toHaveLength(8);
  await run();
  expect(await left("event_secrets")).toEqual([
    ...["open", "started-again", "started-again", "young"],
  ]);
});

test.each(["whole", "empty"] as const)(
  "nothing of an open process is removed, and the journal outlives the history, whether the list of processes is %s",
  async (list) => {
    temporal.processes = [
      { workflowId: "open", running: true },
      { workflowId: "remembered", running: false },
    ];
    temporal.list = list;
    for (const name of ["open", "remembered"]) {
      await callback(name, "delivered", 500);
      await effect(name, 500);
    }
    expect(await run()).toMatchObject({ inboxBodies: 1, inboxRows: 0, journalRows: 0 });
    expect(await left("callbacks", "body is not null")).toEqual(["open"]);
    expect(await left("callbacks")).toEqual(["open", "remembered"]);
    expect(await left("effects")).toEqual(["open", "remembered"]);
  },
);

test("Temporal is asked about each process before something of it goes, not about each row", async () => {
  for (const name of ["a", "b"])
    for (let row = 0; row < 3; row += 1) {
      await callback(name, "delivered", 450);
      await effect(name, 450);
    }
  await callback("young", "delivered", 1);
  await run();
  // Bodies, rows of the inbox, rows of the journal.
  expect(temporal.described.toSorted()).toEqual(["a", "a", "a", "b", "b", "b"]);
});

test("where Temporal cannot say whether a process is open, nothing of it is removed", async () => {
  await callback("closed", "delivered", 500);
  await effect("elsewhere", 500, "gone");
  await expect(run()).rejects.toThrow("namespace gone not found");
  expect(await left("effects")).toEqual(["elsewhere"]);
});

test("a dry run counts the same and removes nothing", async () => {
  temporal.processes = [{ workflowId: "open", running: true }];
  for (const name of ["a", "b", "open"]) {
    await callback(name, "delivered", 450);
    await effect(name, 450);
    await effect(name, name === "b" ? 399 : 450);
  }
  const counted = await run({ dryRun: true });
  expect(await left("effects")).toHaveLength(6);
  expect(await left("callbacks", "body is not null")).toHaveLength(3);
  const removed = await run();
  expect(counted).toMatchObject({ dryRun: true, inboxBodies: 2, inboxRows: 2, journalRows: 2 });
  expect({ ...removed, dryRun: true }).toEqual(counted);
});

test("a journal shorter than the history or the inbox is refused before anything is removed", async () => {
  temporal.historyDays = 401;
  await effect("old", 500);
  await expect(run()).rejects.toThrow(
    "retention.journalDays is 400, below the namespace's history retention",
  );
  temporal.historyDays = 90;
  await expect(run({ retention: { ...retention, inboxDays: 401 } })).rejects.toThrow(
    "retention.inboxDays",
  );
  expect(await left("effects")).toEqual(["old"]);
});

test("an inbox longer than the history is told", async () => {
  temporal.historyDays = 20;
  expect((await run()).notes).toEqual([expect.stringContaining("retention.inboxDays is 30")]);
});
