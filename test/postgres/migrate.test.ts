// Migrations and the pool against a real PostgreSQL.
import { expect, test } from "vitest";
import { migrate, pendingMigrations, type Migration } from "../../src/postgres/migrate.js";
import { transaction } from "../../src/postgres/pool.js";
import { untilLockAwaited } from "../harness/documents/document-owners.js";
import { testDatabase, uncommitted } from "../harness/stack/postgres.js";
import type { TestDatabase } from "../harness/stack/postgres.js";
import { until } from "../harness/outages/wait.js";
import { ofFile } from "../harness/of-file.js";

const database = ofFile(() => testDatabase({ migrated: false }));

const applied = async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    "select name from trustflow.migrations order by applied_at",
  );
  return rows.map(({ name }) => name);
};

test("an empty database lacks the tables; several runners at once make them once", async () => {
  const { pool } = database;
  expect(await pendingMigrations(pool)).toEqual(["0001-tables"]);
  const runs = await Promise.all([migrate(pool), migrate(pool), migrate(pool)]);
  expect(runs.flat()).toEqual(["0001-tables"]);
  expect(await pendingMigrations(pool)).toEqual([]);
  expect(await migrate(pool)).toEqual([]);
});

test("a callback without a process waits for its reference or is parked, and every state has a name", async () => {
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
  for (const change of [
    "update trustflow.callbacks set state = 'waiting' where account is not null",
    "update trustflow.callbacks set state = 'delivered' where account is not null",
    "update trustflow.callbacks set namespace = null where account is null",
    "update trustflow.callbacks set state = 'unknown'",
  ])
    await expect(pool.query(change)).rejects.toThrow("check constraint");
});

const first: Migration = { name: "0001-a", sql: "create table trustflow.a (n integer)" };
const second: Migration = {
  name: "0002-b",
  indexes: [{ name: "a_by_n", on: "a (n)" }],
  sql: "alter table trustflow.a add column b integer not null default 0",
};
const third: Migration = { name: "0003-c", sql: "create index a_by_b on trustflow.a (b)" };
const emptied = (pool: TestDatabase["pool"]) => pool.query("drop schema trustflow cascade");

test("several migrations run in their order, each once; one that fails is not recorded, and the next run begins with it", async () => {
  const { pool } = database;
  await emptied(pool);
  const broken = { ...third, sql: `${third.sql}; select * from trustflow.nothing` };
  await expect(migrate(pool, [first, second, broken])).rejects.toThrow("nothing");
  expect(await applied()).toEqual(["0001-a", "0002-b"]);
  const runs = [first, second, third];
  const all = await Promise.all([migrate(pool, runs), migrate(pool, runs), migrate(pool, runs)]);
  expect(all.flat()).toEqual(["0003-c"]);
  expect(await applied()).toEqual(["0001-a", "0002-b", "0003-c"]);
});

test("rows are written while an index is built beside the writers, and one that was cut off is built again", async () => {
  const { pool } = database;
  await emptied(pool);
  await migrate(pool, [first]);
  await pool.query("create index a_by_n on trustflow.a (n) where n > 7");
  const commit = await uncommitted(pool, (writer) =>
    writer.query("insert into trustflow.a values (1)"),
  );
  const migrating = [migrate(pool, [first, second]), migrate(pool, [first, second])];
  await untilLockAwaited(pool);
  await pool.query("insert into trustflow.a values (2)");
  await commit();
  expect((await Promise.all(migrating)).flat()).toEqual(["0002-b"]);
  const { rows } = await pool.query(
    `select relname as name, indisvalid as "isValid", indpred is null as "isWhole"
     from pg_index join pg_class on oid = indexrelid where indrelid = 'trustflow.a'::regclass`,
  );
  expect(rows).toEqual([{ name: "a_by_n", isValid: true, isWhole: true }]);
});

test("a connection that breaks while another runner is waited for is an error of the run, and of nothing else", async () => {
  const { pool } = database;
  const other = await pool.connect();
  await other.query("select pg_advisory_lock(7318200401)");
  const failed = expect(migrate(pool)).rejects.toThrow();
  const waits = "select pid from pg_stat_activity where query like 'select pg_try_advisory_lock%'";
  await until(async () => (await pool.query(waits)).rowCount === 1);
  await pool.query(`select pg_terminate_backend(pid) from (${waits}) as waiting`);
  await failed;
  other.release(true);
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
