// What each role of a deployment may do in the database, against a real PostgreSQL: its own work, and nothing else.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BatchItems } from "../../src/batch/items/items.js";
import { ArchiveParts } from "../../src/batch/items/parts.js";
import { purgeBatches } from "../../src/batch/items/removal.js";
import { Arrivals } from "../../src/callbacks/receiver/arrivals.js";
import { CallbackArchive } from "../../src/callbacks/inbox/archive.js";
import { storeEventSecrets } from "../../src/callbacks/inbox/event-secrets.js";
import { BodyOpener } from "../../src/callbacks/inbox/rows.js";
import { Inbox } from "../../src/callbacks/inbox/inbox.js";
import {
  forgetSettled,
  freeJudged,
  judgementsOf,
  offerTokens,
} from "../../src/callbacks/inbox/unaddressed-tokens.js";
import { findErasable } from "../../src/cleanup/erasure-record.js";
import { Journal } from "../../src/journal/journal.js";
import { addOwner } from "../../src/journal/ownership.js";
import { purgeCorrelations, purgeEffects, purgeStored } from "../../src/journal/retention.js";
import { UnaddressedTokens } from "../../src/journal/unaddressed-tokens.js";
import { openDatabaseRoles } from "../../packages/dev/src/stack/database-roles.js";
import type { LocalRole } from "../../packages/dev/src/stack/database-roles.js";
import { functionGrants, grantRoles, ownerUser, tableGrants } from "../../src/postgres/grants.js";
import { databaseRoles } from "../../src/postgres/roles.js";
import { pendingMigrations } from "../../src/postgres/migrate.js";
import { createPool } from "../../src/postgres/pool.js";
import type { Pool } from "../../src/postgres/pool.js";
import type { ProcessEvent } from "../../src/contracts/process-event.js";
import { Deliveries, purgeTests } from "../../src/webhooks/deliveries.js";
import { Outbox } from "../../src/webhooks/outbox.js";
import { bodyKeys, sealRing, subjectOf } from "../callbacks/support.js";
import { sealersIn } from "../harness/stack/sealers.js";
import { testDatabase } from "../harness/stack/postgres.js";
import type { TestDatabase } from "../harness/stack/postgres.js";

let database: TestDatabase;
let as: Record<LocalRole, Pool>;

beforeAll(async () => {
  // Roles belong to a whole server.
  database = await testDatabase({ own: true });
  expect(await grantRoles(database.pool)).toEqual([]);
  const urls = await openDatabaseRoles(database.url);
  as = Object.fromEntries(
    Object.entries(urls).map(([role, url]) => [role, createPool(url, { max: 2 })]),
  ) as typeof as;
  expect(await grantRoles(database.pool)).toEqual([...databaseRoles]);
});
afterAll(async () => {
  await Promise.all(Object.values(as).map((pool) => pool.end()));
  await database.close();
});

const denied = /^permission denied/;
const insertCallback = `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body, state)
  values ('a', 'b', 'evi-post', 'default', 'sendPostal/1', 1, 'x', 'waiting')`;
const insertEffect = `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state)
  values (gen_random_uuid(), 'default', 'sendPostal/1', 'submit', '1', 'sending')`;
const insertSecret =
  "insert into trustflow.event_secrets values ('default', 'verifyIdentity/1', 'e', 'x')";
const insertToken =
  "insert into trustflow.unaddressed_tokens (callback, provider, account) values (1, 'a', 'b')";
const insertEvent = `insert into trustflow.process_events (id, namespace, workflow_id, type, happened_at, data)
  values ('evt_a', 'default', 'sendPostal/1', 'process.ended', now(), '{}')`;
const insertBatch =
  "insert into trustflow.batches (namespace, workflow_id, recipients) values ('default', 'sendNoticeBatch/2', 1)";
const everywhere = [
  "create table trustflow.mine (n int)",
  "create table public.mine (n int)",
  "truncate trustflow.callbacks",
  "drop table trustflow.effects",
  "alter table trustflow.callbacks add column more text",
  "insert into trustflow.migrations (name) values ('9999-mine')",
  "create role trustflow_mine",
  "create temporary table callbacks (n int)",
];

const deniedStatements: Record<(typeof databaseRoles)[number], string[]> = {
  receiver: [
    "select from trustflow.callbacks",
    "select body from trustflow.callbacks",
    "update trustflow.callbacks set state = 'late'",
    "delete from trustflow.callbacks",
    insertCallback,
    "select from trustflow.callback_addresses",
    "update trustflow.callback_addresses set rows = 0",
    "select from trustflow.effects",
    insertEffect,
    "select from trustflow.correlations",
    "select from trustflow.look_up_proofs",
    "select from trustflow.event_secrets",
    insertSecret,
    "select from trustflow.unaddressed_tokens",
    insertToken,
    "select from trustflow.process_events",
    "select from trustflow.webhook_deliveries",
  ],
  relay: [
    "update trustflow.process_events set data = '{}'",
    "delete from trustflow.process_events",
    "update trustflow.webhook_deliveries set endpoint = 'other'",
    "delete from trustflow.webhook_deliveries",
    "select erased_by from trustflow.erasures",
    insertCallback,
    "update trustflow.callbacks set body = 'other'",
    "update trustflow.callbacks set received_at = now()",
    "delete from trustflow.callbacks",
    "select sealed_answer from trustflow.effects",
    "update trustflow.effects set state = 'notSent'",
    "insert into trustflow.correlations (provider, account, reference, namespace, workflow_id) values ('a', 'b', 'c', 'd', 'e')",
    "select from trustflow.look_up_proofs",
    insertBatch,
    "delete from trustflow.batch_items",
    "select from trustflow.batch_parts",
    "select from trustflow.event_secrets",
    "update trustflow.event_secrets set sealed = 'other'",
    "delete from trustflow.event_secrets",
    "select sealed from trustflow.unaddressed_tokens",
    "update trustflow.unaddressed_tokens set reference = 'other'",
  ],
  worker: [
    "select from trustflow.process_events",
    "select from trustflow.webhook_deliveries",
    "select body from trustflow.callbacks",
    "select identifier from trustflow.callbacks",
    insertCallback,
    "delete from trustflow.callbacks",
    "delete from trustflow.effects",
    "update trustflow.correlations set reference = 'other'",
    "delete from trustflow.correlations",
    insertSecret,
    "update trustflow.event_secrets set sealed = 'other'",
    "delete from trustflow.event_secrets",
    insertToken,
    "update trustflow.unaddressed_tokens set account = 'other'",
    "delete from trustflow.unaddressed_tokens",
    "delete from trustflow.batches",
    "delete from trustflow.batch_items",
    "update trustflow.documents set kind = 'other'",
    "delete from trustflow.documents",
  ],
  cleanup: [
    insertEvent,
    "update trustflow.webhook_deliveries set state = 'waiting'",
    insertBatch,
    "update trustflow.batch_items set line = 1",
    insertEffect,
    "update trustflow.effects set state = 'notSent'",
    insertCallback,
    "update trustflow.callbacks set received_at = now()",
    "update trustflow.look_up_proofs set finding = 'found'",
    "insert into trustflow.correlations (provider, account, reference, namespace, workflow_id) values ('a', 'b', 'c', 'd', 'e')",
    insertSecret,
    "update trustflow.event_secrets set sealed = 'other'",
    "select sealed from trustflow.unaddressed_tokens",
    "update trustflow.unaddressed_tokens set reference = 'other'",
  ],
  operator: [
    insertEvent,
    "insert into trustflow.webhook_deliveries (event, namespace, endpoint) values ('evt_a', 'default', 'a')",
    "update trustflow.webhook_deliveries set attempts = '[]'",
    "delete from trustflow.webhook_deliveries",
    "select from trustflow.event_secrets",
    "select from trustflow.unaddressed_tokens",
    insertEffect,
    "update trustflow.effects set state = 'notSent'",
    "delete from trustflow.effects",
    insertCallback,
    "update trustflow.callbacks set body = null",
    insertBatch,
    "update trustflow.batch_items set line = 1",
    "delete from trustflow.batch_parts",
    "delete from trustflow.callbacks",
  ],
};

describe.each(databaseRoles)("the role %s", (role) => {
  test.each([...deniedStatements[role], ...everywhere])("may not: %s", async (statement) => {
    const client = await as[role].connect();
    try {
      await client.query("begin");
      await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  test("sees whether the database fits its release, and owns nothing", async () => {
    expect(await pendingMigrations(as[role])).toEqual([]);
    expect(await ownerUser(as[role])).toBeUndefined();
    expect(await ownerUser(database.pool)).toBe("trustflow");
  });
});

test("each table and each function of the schema says who may do what with it", async () => {
  const { rows } = await database.pool.query<{ name: string; isFunction: boolean }>(
    `select relname::text as name, false as "isFunction" from pg_class
     where relnamespace = 'trustflow'::regnamespace and relkind in ('r', 'v', 'm', 'p')
     union all select proname::text, true from pg_proc where pronamespace = 'trustflow'::regnamespace`,
  );
  const named = (functions: boolean) =>
    rows.flatMap(({ name, isFunction }) => (isFunction === functions ? name : [])).toSorted();
  expect(named(false)).toEqual(Object.keys(tableGrants).toSorted());
  expect(named(true)).toEqual(Object.keys(functionGrants).toSorted());
});

test("the receiver stores and knows a duplicate; the relay claims, addresses and settles; an operator lists, reads and replays", async () => {
  const subject = subjectOf();
  const arrival = (identifier: string) => ({
    address: `address of ${subject.workflowId}`,
    identifier,
    subject,
    body: Buffer.from(`{"Identifier":"${identifier}"}`),
  });
  const arrivals = new Arrivals(as.receiver, sealRing);
  expect(await arrivals.insert([arrival("a"), arrival("b")], 5_000)).toEqual(["stored", "stored"]);
  expect(await arrivals.insert([arrival("b"), arrival("c")], 5_000)).toEqual([
    "duplicate",
    "stored",
  ]);

  const inbox = new Inbox(as.relay);
  const claim = randomUUID();
  const rows = await inbox.claim(claim, 5_000);
  const bodies = new BodyOpener(bodyKeys);
  expect(rows.map((row) => bodies.open(row).toString())).toContain('{"Identifier":"c"}');
  const ids = rows.map(({ id }) => id);
  await inbox.settle(claim, ids, { state: "parked", reason: "unknownProcess" });
  expect(await inbox.claimUnaddressed(claim, 5_000)).toEqual([]);
  expect((await inbox.address(claim, [], 200)).size).toBe(0);
  expect(await inbox.claimWakes()).toEqual([]);

  const archive = new CallbackArchive(as.operator);
  const listed = await archive.list({ workflowId: subject.workflowId });
  expect(listed.map(({ state }) => state)).toEqual(["parked", "parked", "parked"]);
  expect((await archive.show(ids[0] ?? "", bodyKeys))?.body).toBe('{"Identifier":"a"}');
  expect(await archive.replay(ids)).toEqual(ids);
});

test("worker and relay note what is known of a batch's notices, an operator reads it, and the clean-up removes it", async () => {
  const batch = { namespace: "default", workflowId: "sendNoticeBatch/1" };
  const [worker, relay, operator] = [as.worker, as.relay, as.operator].map(
    (pool) => new BatchItems(pool),
  ) as [BatchItems, BatchItems, BatchItems];
  await worker.open(batch, 1);
  await worker.noteListed(batch, [{ evidenceId: "n", line: 1 }]);
  await new Arrivals(as.receiver, sealRing).insert(
    [
      {
        ...{ address: "a batch's", identifier: "a", body: Buffer.from("{}"), rows: 40 },
        subject: { provider: "evi-notice", ...batch },
      },
    ],
    5_000,
  );
  const claim = randomUUID();
  const [row] = (await new Inbox(as.relay).claim(claim, 5_000)).filter(
    ({ workflowId }) => workflowId === batch.workflowId,
  );
  const heard = { evidenceId: "n", kind: "Sent", at: "2026-01-01T00:00:00Z", rank: 5 };
  await relay.keep(claim, [{ id: row?.id ?? "", ...heard }]);
  await worker.noteRead(batch, [{ evidenceId: "n", state: "Read" }], new Date());
  await worker.noteSwept(batch, new Date());
  expect(await worker.due(batch, new Date(), 1)).toHaveLength(1);
  const parts = new ArchiveParts(as.worker);
  const part = { document: "document:1", size: 1, entries: Buffer.from("x") };
  expect(await parts.add(batch, part, ["n"])).toBe(true);
  expect(await operator.totals(batch)).toHaveLength(1);
  expect(await operator.page(batch, { limit: 1 })).toHaveLength(1);
  expect(await operator.history(batch, "n")).toHaveLength(1);
  expect(await new ArchiveParts(as.operator).list(batch)).toHaveLength(1);
  const archive = { uri: "document:2", sha256: "x", size: 1, mediaType: "application/zip" };
  expect(await parts.keep(batch, archive, 1)).toEqual(archive);
  await purgeBatches(as.cleanup, new Date(Date.now() + 60_000));
  expect(await operator.sweep(batch)).toBeUndefined();
});

test("the relay stores secrets of events, the worker finds them and claims references, and the clean-up removes both", async () => {
  const first = { namespace: "default", workflowId: "verifyIdentity/1" };
  const second = { ...first, workflowId: "verifyIdentity/2" };
  for (let times = 0; times < 2; times += 1)
    await storeEventSecrets(as.relay, first, [{ eventId: "e", sealed: "x" }]);
  const journal = new Journal(as.worker, sealersIn(), { leaseMs: 1, lookUpSpacingMs: 1 });
  expect(await journal.eventSecrets(first)).toEqual([{ eventId: "e", sealed: "x" }]);
  await journal.noteSecretTried(first, "e", true);
  const reference = { provider: "video-identification", account: "default", reference: "c" };
  await journal.reserveReference({ ...reference, ...first });
  expect(await journal.reserveReference({ ...reference, ...second })).toEqual(first);
  expect(await journal.takeReference({ ...reference, ...second }, first)).toBe(true);
  const olderThan = new Date(Date.now() + 60_000);
  await purgeStored("event_secrets", as.cleanup, olderThan, async () => false);
  await purgeCorrelations(as.cleanup, olderThan, async () => false);
  for (const table of ["event_secrets", "correlations"])
    expect((await database.pool.query(`select from trustflow.${table}`)).rowCount).toBe(0);
});

test("the worker makes a process an owner, again in a later run, and the clean-up reads its end", async () => {
  const owner = { namespace: "default", workflowId: "sendPostal/owner" };
  for (let run = 0; run < 2; run += 1)
    await addOwner(as.worker, owner, [{ id: "d", kind: "submitted" }]);
  const { rows } = await as.cleanup.query("select id, ended_at from trustflow.documents");
  expect(rows).toEqual([{ id: "d", ended_at: null }]);
});

test("the relay offers tokens without a reference, the worker finds what they open, and the relay forgets them", async () => {
  const of = { provider: "video-identification", account: "default" };
  const tokens = new UnaddressedTokens(as.worker);
  await offerTokens(as.relay, [{ callback: "7", ...of, sealed: "x" }]);
  await offerTokens(as.relay, [{ callback: "7", ...of, sealed: "y" }]);
  expect(await tokens.unread(of, 1)).toEqual([{ callback: "7", sealed: "x" }]);
  await tokens.noteRead(["7"], [true]);
  expect(await tokens.unread(of, 1)).toEqual([]);
  expect(await tokens.take(of, 1, 1_000)).toEqual([
    { callback: "7", sealed: "x", refused: [], ageMs: expect.any(Number) },
  ]);
  await tokens.refuse("7", ["a"], 0);
  expect((await tokens.take(of, 1, 1_000))[0]?.refused).toEqual(["a"]);
  await tokens.judge("7", "c");
  expect(await tokens.take(of, 1, 1_000)).toEqual([]);
  expect(await judgementsOf(as.relay, ["7"])).toEqual(
    new Map([["7", { isJudged: true, reference: "c" }]]),
  );
  await freeJudged(as.relay);
  await forgetSettled(as.relay);
  expect(await judgementsOf(as.relay, ["7"])).toEqual(new Map());
});

test("the clean-up removes bodies and rows of inbox and journal", async () => {
  const unknown = { namespace: "default", workflowId: "sendPostal/unknown" };
  expect(await findErasable(as.cleanup, unknown)).toMatchObject({ callbacks: 0 });
  await database.pool.query(insertEffect);
  await database.pool.query("update trustflow.callbacks set state = 'late', settled_at = now()");
  const olderThan = new Date(Date.now() + 60_000);
  const isOpen = async () => false;
  const archive = new CallbackArchive(as.cleanup);
  for (const what of ["bodies", "parkedBodies", "rows"] as const)
    expect(await archive.purge({ olderThan, what, isOpen })).toBeGreaterThanOrEqual(0);
  expect(await purgeEffects(as.cleanup, olderThan, isOpen)).toBe(1);
  expect(await archive.list()).toEqual([]);
  expect(await archive.forgetAddresses(olderThan)).toBeGreaterThanOrEqual(0);
});

test("the relay stores events and settles deliveries, an operator tests and replays, and the clean-up removes both", async () => {
  const outbox = new Outbox(as.relay, "default");
  const { position } = await outbox.position();
  await outbox.move(new Date(position.getTime() + 1));
  const event: ProcessEvent = {
    ...{ id: "evt_a", type: "process.ended", timestamp: "2026-01-01T00:00:00.000Z" },
    data: { process: "sendPostal", id: "told", runId: "r", outcome: "sent" },
  };
  const endpoint = { name: "a", url: "", keys: [], events: [event.type], allowPrivate: false };
  expect(await outbox.store([event], [endpoint])).toBe(1);
  expect(await outbox.store([event], [endpoint])).toBe(0);
  expect(await outbox.knownAmong(["evt_a"])).toEqual(new Set(["evt_a"]));

  const [relay, operator] = [as.relay, as.operator].map(
    (pool) => new Deliveries(pool, "default"),
  ) as [Deliveries, Deliveries];
  const claim = randomUUID();
  const [due] = await relay.take(claim, "a", 5, 60_000);
  await relay.settle(claim, due!, { at: "", ms: 1, status: 410 }, { pauseMs: undefined });
  expect(await relay.unsettled(["a"])).toEqual([{ endpoint: "a", state: "failed", count: 1 }]);
  const testId = await operator.test("a");
  expect(await operator.replay([due!.id, testId])).toEqual([due!.id]);
  expect((await operator.list()).map(({ state }) => state)).toEqual(["waiting", "waiting"]);
  expect(await operator.show(testId)).toMatchObject({ event: { type: "webhook.test" } });

  const olderThan = new Date(Date.now() + 60_000);
  await purgeStored("process_events", as.cleanup, olderThan, async () => true);
  expect(await operator.list()).toHaveLength(2);
  await purgeStored("process_events", as.cleanup, olderThan, async () => false);
  expect(await operator.list()).toHaveLength(2);
  // It is not tried any more by then.
  await database.pool.query(
    "update trustflow.webhook_deliveries set created_at = created_at - interval '7 days'",
  );
  await purgeStored("process_events", as.cleanup, olderThan, async () => false);
  await purgeTests(as.cleanup, olderThan);
  expect(await operator.list()).toEqual([]);
});

test("the next migrate revokes a right that was granted by hand, and public rights", async () => {
  await database.pool.query(
    "grant select on trustflow.effects to trustflow_receiver; grant delete on trustflow.callbacks to public",
  );
  await as.receiver.query("select from trustflow.effects");
  await grantRoles(database.pool);
  await expect(as.receiver.query("select from trustflow.effects")).rejects.toThrow(denied);
  await expect(as.worker.query("delete from trustflow.callbacks")).rejects.toThrow(denied);
});
