// Migrations, in order, each in a transaction of its own, one runner at a time. They expand first and contract in a later
// release, because the previous release keeps running meanwhile (docs/design.md §4). Indexes on its tables are built beside it.
import { setTimeout as delay } from "node:timers/promises";
import { tables } from "./migrations/0001-tables.js";
import type { Pool, PoolClient } from "./pool.js";

export interface Migration {
  name: string;
  /** On tables that may be large, and that others write to meanwhile: built before `sql`, outside its transaction. */
  indexes?: readonly { name: string; on: string }[];
  sql: string;
}

const ours: readonly Migration[] = [tables];
// Any fixed number: the advisory lock that migrations take.
const LOCK = 7_318_200_401;

/** Applies what is missing and returns its names; safe to run from several processes at once. */
export async function migrate(pool: Pool, migrations = ours): Promise<string[]> {
  const client = await pool.connect();
  // A connection that breaks while nothing runs on it reports it here; the next statement fails.
  const ignore = (): void => undefined;
  client.on("error", ignore);
  let failure: Error | undefined;
  try {
    // Waiting for another runner, or for a large table, may take longer than any statement of ours.
    await client.query("set statement_timeout = 0");
    await lock(client);
    await run(client, "create schema if not exists trustflow");
    await run(
      client,
      `create table if not exists trustflow.migrations (
         name text primary key, applied_at timestamptz not null default clock_timestamp())`,
    );
    const missing = await missingIn(client, migrations);
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // A connection that failed is thrown away, and its lock with it; a good one goes back as it came.
    if (failure === undefined) {
      await client.query(`select pg_advisory_unlock(${LOCK})`);
      await client.query("reset statement_timeout");
    }
    client.off("error", ignore);
    client.release(failure);
  }
}

/** Names of the migrations that this release needs and the database lacks. */
export async function pendingMigrations(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ found: boolean }>(
    "select to_regclass('trustflow.migrations') is not null as found",
  );
  const missing = rows[0]?.found === true ? await missingIn(pool, ours) : ours;
  return missing.map(({ name }) => name);
}

async function missingIn(
  connection: Pool | PoolClient,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const { rows } = await connection.query<{ name: string }>(
    "select name from trustflow.migrations",
  );
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

/** Asked again and again: a statement that waited inside PostgreSQL would itself be waited for by an index that is built concurrently. */
async function lock(client: PoolClient): Promise<void> {
  const take = `select pg_try_advisory_lock(${LOCK}) as held`;
  while (!(await client.query<{ held: boolean }>(take)).rows[0]?.held) await delay(200);
}

async function apply(client: PoolClient, { name, indexes = [], sql }: Migration): Promise<void> {
  for (const index of indexes) {
    // A build that was cut off leaves one that is not valid.
    await run(client, `drop index concurrently if exists trustflow.${index.name}`);
    await run(client, `create index concurrently ${index.name} on trustflow.${index.on}`);
  }
  await run(client, "begin");
  await run(client, sql);
  await run(client, "insert into trustflow.migrations (name) values ($1)", [name]);
  await run(client, "commit");
}

// `query_timeout` of the pool would give up a migration that is merely slow.
async function run(client: PoolClient, text: string, values: string[] = []): Promise<void> {
  await client.query({ text, values, query_timeout: 3_600_000 } as {
    text: string;
    values: string[];
  });
}
