// Migrations and the pool against a real PostgreSQL.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { migrate, pendingMigrations } from "../../src/postgres/migrate.js";
import { createPool, transaction } from "../../src/postgres/pool.js";
import { testDatabase } from "../support/postgres.js";
import type { TestDatabase } from "../support/postgres.js";

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
  ]);
  const runs = await Promise.all([migrate(pool), migrate(pool), migrate(pool)]);
  expect(runs.flat().toSorted()).toEqual(pending);
  expect(await pendingMigrations(pool)).toEqual([]);
  expect(await migrate(pool)).toEqual([]);
});

test("the migrations make exactly the fixed tables of docs/design.md §13 and those of decisions 17 to 20", async () => {
  await migrate(database.pool);
  const { rows } = await database.pool.query(
    "select table_name from information_schema.tables where table_schema = 'trustflow' order by 1",
  );
  expect(rows.map((row) => row.table_name)).toEqual([
    "callback_addresses",
    "callbacks",
    "correlations",
    "document_quarantine",
    "documents",
    "effects",
    "erasures",
    "look_up_proofs",
    "migrations",
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
