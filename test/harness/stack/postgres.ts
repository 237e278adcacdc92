// A real PostgreSQL for a test file: an embedded server in a temporary folder on a free port, or, where TEST_DATABASE_URL
// names one, a fresh database on that server.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import {
  makeDatabaseClock,
  passInDatabase,
} from "../../../packages/dev/src/clock/database-clock.js";
import {
  startPostgres as startEmbedded,
  type PostgresServer,
} from "../../../packages/dev/src/servers/postgres.js";
import { migrate } from "../../../src/postgres/migrate.js";
import { createPool, type Pool, type PoolOptions } from "../../../src/postgres/pool.js";
import { copy } from "./base-backup.js";

export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

export async function startPostgres(): Promise<PostgresServer> {
  const directory = join(tmpdir(), `trustflow-test-postgres-${randomUUID()}`);
  await preparePostgres(directory);
  return startEmbedded({ directory, throwaway: true });
}

/** Copies the unused PostgreSQL of the run there, unless something is there. Without one the server makes its data itself. */
export async function preparePostgres(directory: string): Promise<void> {
  const unused = process.env["TEST_POSTGRES"];
  if (unused === undefined || existsSync(directory)) return;
  await mkdir(dirname(directory), { recursive: true, mode: 0o700 });
  await copy(unused, directory);
}

interface DatabaseOptions {
  /** Always starts a server, so that the test may stop it. */
  own?: boolean;
  /** Default: with the tables of this release. */
  migrated?: boolean;
  /** With a clock that `pass` moves, so that no test waits for a lease, or loses one on a busy machine. */
  hasClock?: boolean;
  pool?: PoolOptions;
}

/** A fresh database. */
export async function testDatabase(options: DatabaseOptions = {}) {
  const shared = options.own === true ? undefined : process.env["TEST_DATABASE_URL"];
  const server = shared === undefined ? await startPostgres() : undefined;
  const serverUrl = shared ?? server?.url ?? "";
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await withPool(serverUrl, (pool) => pool.query(`create database ${name}`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  if (options.hasClock === true) await makeDatabaseClock(url.href);
  if (options.migrated !== false) await withPool(url.href, migrate);
  const pool = createPool(url.href, options.pool);
  return {
    url: url.href,
    pool,
    /** Where it is this file's own: to be stopped and started again. */
    server,
    /** So many milliseconds pass in the database. */
    pass: (ms: number) => passInDatabase(pool, ms),
    async close() {
      await pool.end();
      if (server) await server.close();
      else await withPool(serverUrl, (all) => all.query(`drop database ${name} with (force)`));
    },
  };
}

/** One connection for a piece of work. A server that has just started on a busy machine may take its time. */
export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(url, { max: 1, connectTimeoutMs: 60_000 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Does the work in a transaction; returns its commit. */
export async function uncommitted(
  pool: Pool,
  work: (client: pg.PoolClient) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query("begin");
  await work(client);
  return async () => {
    await client.query("commit");
    client.release();
  };
}

/** Every row of every table of ours, by the table's name. */
export async function* everyRow(pool: Pool): AsyncIterable<[string, Record<string, unknown>]> {
  for (const name of await tablesOf(pool))
    for (const row of (await pool.query(`select * from trustflow."${name}"`)).rows)
      yield [name, row];
}

export async function tablesOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'trustflow' order by 1",
  );
  return rows.map(({ name }) => name);
}

/** What a standby is to its server: a connection to which the log is streamed. Returns what ends it. */
export async function startStandby(url: string): Promise<() => void> {
  const standby = new pg.Client({
    connectionString: url,
    ...({ replication: "true" } as object),
  });
  standby.on("error", () => undefined);
  await standby.connect();
  const { rows } = await standby.query<{ xlogpos: string }>("IDENTIFY_SYSTEM");
  // It streams until its connection ends, so no answer comes.
  standby.query(`START_REPLICATION PHYSICAL ${rows[0]?.xlogpos}`).catch(() => undefined);
  return () => void standby.end().catch(() => undefined);
}
