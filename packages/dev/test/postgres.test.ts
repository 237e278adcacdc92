// The embedded PostgreSQL keeps what was committed over a stop and over a crash, and cleans up after itself.
import { existsSync, mkdtempSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import pg from "pg";
import { isAlive } from "../src/processes/lock.js";
import { type PostgresServer, startPostgres } from "../src/servers/postgres.js";

const folders: string[] = [];
const servers: PostgresServer[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "trustflow-postgres-"));
  folders.push(made);
  return made;
}

async function start(directory: string, throwaway = false): Promise<PostgresServer> {
  const server = await startPostgres({ directory, throwaway });
  servers.push(server);
  return server;
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows[0] && Object.values(rows[0])[0];
  } finally {
    await client.end();
  }
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const made of folders.splice(0)) await rm(made, { recursive: true, force: true });
});

test("what is committed is there after a stop and after a crash, on the same port", async () => {
  const server = await start(folder());
  await ask(server.url, "CREATE TABLE t AS SELECT 1 AS n");
  await server.stop();
  expect(server.isAlive()).toBe(false);
  await expect(ask(server.url, "SELECT 1")).rejects.toThrow();
  await server.start();
  await ask(server.url, "UPDATE t SET n = 2");
  await server.kill();
  await server.start();
  expect(await ask(server.url, "SELECT n FROM t")).toBe(2);
});

test("it is as durable as in production, reached only from here and only with the password", async () => {
  const directory = folder();
  const server = await start(directory);
  expect(await ask(server.url, "SHOW fsync")).toBe("on");
  expect(await ask(server.url, "SHOW synchronous_commit")).toBe("on");
  expect(await ask(server.url, "SHOW listen_addresses")).toBe("127.0.0.1");
  const stranger = new URL(server.url);
  stranger.password = "guessed";
  await expect(ask(stranger.href, "SELECT 1")).rejects.toThrow("password");
  expect((await stat(join(directory, "password"))).mode & 0o077).toBe(0);
});

test("a kept folder is opened again with its data and password", async () => {
  const directory = folder();
  const first = await start(directory);
  await ask(first.url, "CREATE TABLE t AS SELECT 7 AS n");
  await first.close();
  const second = await start(directory);
  expect(new URL(second.url).password).toBe(new URL(first.url).password);
  expect(await ask(second.url, "SELECT n FROM t")).toBe(7);
});

test("a server that a killed run left in the folder is stopped first", async () => {
  const directory = folder();
  const left = await start(directory);
  await ask(left.url, "CREATE TABLE t AS SELECT 3 AS n");
  const next = await start(directory);
  expect(isAlive(left.pid)).toBe(false);
  expect(await ask(next.url, "SELECT n FROM t")).toBe(3);
});

test("a throwaway folder is gone after close", async () => {
  const directory = folder();
  const server = await start(directory, true);
  await server.close();
  expect(existsSync(directory)).toBe(false);
});

(process.platform === "linux" && process.getuid?.() === 0 ? test : test.skip)(
  "root is told that it needs setpriv",
  async () => {
    const { PATH } = process.env;
    process.env["PATH"] = folder();
    try {
      await expect(startPostgres({ directory: folder() })).rejects.toThrow("`setpriv`");
    } finally {
      process.env["PATH"] = PATH;
    }
  },
);
