// Migrations and the pool against a real PostgreSQL.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { migrate, pendingMigrations } from "../../src/postgres/migrate.js";
import { effects } from "../../src/postgres/migrations/0001-effects.js";
import { callbacks } from "../../src/postgres/migrations/0002-callbacks.js";
import { accounts } from "../../src/postgres/migrations/0003-accounts.js";
import { lookUpProofs } from "../../src/postgres/migrations/0004-look-up-proofs.js";
import { documents } from "../../src/postgres/migrations/0005-documents.js";
import { erasures } from "../../src/postgres/migrations/0006-erasures.js";
import { createPool, transaction } from "../../src/postgres/pool.js";
import { eventually } from "../harness/outages/wait.js";
import { testDatabase } from "../harness/stack/postgres.js";
import type { TestDatabase } from "../harness/stack/postgres.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ own: true, migrated: false });
});
afterAll(() => database.close());

test("an empty database lacks every migration; several runners at once apply each exactly once", async () => {
  const { pool } = database;
  const pending = await pendingMigrations(pool);
  expect(pending).toEqual([
    "0001-effects",
    "0002-callbacks",
    "0003-accounts",
    "0004-look-up-proofs",
    "0005-documents",
    "0006-erasures",
    "0007-callback-quota",
    "0008-batches",
    "0009-batch-addresses",
    "0010-listed-items",
    "0011-batch-archives",
    "0012-event-secrets",
    "0013-namespaces",
    "0014-callback-references",
    "0015-erasure-proofs",
    "0016-callback-failures",
    "0017-unaddressed-tokens",
  ]);
  const runs = await Promise.all([migrate(pool), migrate(pool), migrate(pool)]);
  expect(runs.flat().toSorted()).toEqual(pending);
  expect(await pendingMigrations(pool)).toEqual([]);
  expect(await migrate(pool)).toEqual([]);
});

test("the migrations make exactly the fixed tables of docs/design.md §13 and those of decisions 17 to 20, 33, 36 and 37", async () => {
  await migrate(database.pool);
  const { rows } = await database.pool.query(
    "select table_name from information_schema.tables where table_schema = 'trustflow' order by 1",
  );
  expect(rows.map((row) => row.table_name)).toEqual([
    "batch_items",
    "batch_parts",
    "batches",
    "callback_addresses",
    "callbacks",
    "correlations",
    "document_quarantine",
    "documents",
    "effects",
    "erasures",
    "event_secrets",
    "look_up_proofs",
    "migrations",
    "namespaces",
    "unaddressed_tokens",
  ]);
});

test("the release before 0003 stores and replays as before; a row without a process is never one that it would claim", async () => {
  const { pool } = database;
  await migrate(pool);
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body)
     values ('a', 'i', 'evi-post', 'default', 'sendPostal/1', 1, 'x')`,
  );
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, size, body)
     values ('b', 'i', 'one-shot-signature', 'default', 'parked', 1, 'x')`,
  );
  const state = "select state from trustflow.callbacks where workflow_id = 'sendPostal/1'";
  expect((await pool.query(state)).rows).toEqual([{ state: "waiting" }]);
  for (const change of [
    "update trustflow.callbacks set state = 'waiting' where account is not null",
    "update trustflow.callbacks set state = 'delivered' where account is not null",
    "update trustflow.callbacks set namespace = null where account is null",
    "update trustflow.callbacks set state = 'unknown'",
  ])
    await expect(pool.query(change)).rejects.toThrow("check constraint");
});

test("callbacks are stored while 0007 builds its indexes, and one that was cut off is built again", async () => {
  const { pool } = database;
  await pool.query("drop schema trustflow cascade; create schema trustflow");
  await pool.query(
    "create table trustflow.migrations (name text primary key, applied_at timestamptz default now())",
  );
  for (const { name, sql } of [effects, callbacks, accounts, lookUpProofs, documents, erasures]) {
    await pool.query(sql);
    await pool.query("insert into trustflow.migrations (name) values ($1)", [name]);
  }
  await pool.query("create index callbacks_settled on trustflow.callbacks (id)");
  const store = (identifier: string) =>
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body)
     values ('a', '${identifier}', 'evi-post', 'default', 'sendPostal/1', 1, 'x')`;
  const writer = await pool.connect();
  await writer.query(`begin; ${store("before")}`);
  const migrating = [migrate(pool), migrate(pool)];
  await eventually("the build waits for the writer", async () => {
    const { rowCount } = await pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount !== 0;
  });
  await pool.query(store("meanwhile"));
  await writer.query("commit");
  writer.release();
  expect((await Promise.all(migrating)).flat()).toEqual([
    "0007-callback-quota",
    "0008-batches",
    "0009-batch-addresses",
    "0010-listed-items",
    "0011-batch-archives",
    "0012-event-secrets",
    "0013-namespaces",
    "0014-callback-references",
    "0015-erasure-proofs",
    "0016-callback-failures",
    "0017-unaddressed-tokens",
  ]);
  const { rows } = await pool.query(
    `select relname as name, indisvalid as "isValid" from pg_index join pg_class on oid = indexrelid
     where indrelid = 'trustflow.callbacks'::regclass and pg_get_expr(indpred, indrelid) like '%surplus%' order by 1`,
  );
  expect(rows).toEqual([
    { name: "callbacks_settled", isValid: true },
    { name: "callbacks_surplus", isValid: true },
  ]);
  expect(await pool.query(store("after"))).toMatchObject({ rowCount: 1 });
});

test("a transaction that fails leaves nothing behind and its connection stays usable", async () => {
  const { pool } = database;
  await pool.query("create table if not exists public.scratch (n int)");
  const work = transaction(pool, async (client) => {
    await client.query("insert into public.scratch values (1)");
    throw new Error("on purpose");
  });
  await expect(work).rejects.toThrow("on purpose");
  const { rows } = await pool.query("select count(*)::int as n from public.scratch");
  expect(rows[0].n).toBe(0);
});

test("a pool survives the restart of its server, and fails fast while it is away", async () => {
  const errors: Error[] = [];
  const pool = createPool(database.url, { onError: (error) => errors.push(error) });
  await pool.query("select 1");
  await database.server?.stop();
  const started = Date.now();
  await expect(pool.query("select 1")).rejects.toThrow();
  expect(Date.now() - started).toBeLessThan(3_000);
  await database.server?.start();
  await expect(pool.query("select 1 as one")).resolves.toMatchObject({ rows: [{ one: 1 }] });
  expect(errors.length).toBeGreaterThan(0);
  await pool.end();
});
