// A real PostgreSQL for a test file: an embedded server in a temporary folder on a free port, or, where TEST_DATABASE_URL
// names one, a fresh database on that server.
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startPostgres as startEmbedded } from "../../../src/local/servers/postgres.js";
import type { PostgresServer } from "../../../src/local/servers/postgres.js";
import { migrate } from "../../../src/postgres/migrate.js";
import { createPool } from "../../../src/postgres/pool.js";
import type { Pool, PoolOptions } from "../../../src/postgres/pool.js";

export interface TestDatabase {
  url: string;
  pool: Pool;
  /** The server, where it is this file's own: to be stopped and started again. */
  server?: PostgresServer;
  close(): Promise<void>;
}

export function startPostgres(): Promise<PostgresServer> {
  return startEmbedded({
    directory: join(tmpdir(), `trustflow-test-postgres-${randomUUID()}`),
    throwaway: true,
  });
}

/** A fresh database with the tables of this release; `own: true` always starts a server, so that the test may stop it. */
export async function testDatabase(
  options: { own?: boolean; migrated?: boolean; pool?: PoolOptions } = {},
): Promise<TestDatabase> {
  const shared = options.own === true ? undefined : process.env["TEST_DATABASE_URL"];
  const server = shared === undefined ? await startPostgres() : undefined;
  const serverUrl = shared ?? server?.url ?? "";
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administrate(serverUrl, (pool) => pool.query(`create database ${name}`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  if (options.migrated !== false) await administrate(url.href, migrate);
  const pool = createPool(url.href, options.pool);
  return {
    url: url.href,
    pool,
    ...(server && { server }),
    async close() {
      await pool.end();
      if (server) await server.close();
      else
        await administrate(serverUrl, (server) =>
          server.query(`drop database ${name} with (force)`),
        );
    },
  };
}

/** A server that has just started on a busy machine may take its time. */
async function administrate(url: string, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const pool = createPool(url, { max: 1, connectTimeoutMs: 60_000 });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
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
