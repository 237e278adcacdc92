// The embedded PostgreSQL keeps what was committed over a stop and over a crash, and cleans up after itself.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { isAlive } from "../src/processes/lock.js";
import { type PostgresServer, startPostgres } from "../src/servers/postgres.js";
import { withPool } from "../../../test/harness/stack/postgres.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

const servers: PostgresServer[] = [];

async function start(directory: string, throwaway = false): Promise<PostgresServer> {
  const server = await startPostgres({ directory, throwaway });
  servers.push(server);
  return server;
}

const ask = (url: string, sql: string): Promise<unknown> =>
  withPool(url, async (pool) => {
    const { rows } = await pool.query<Record<string, unknown>>(sql);
    return rows[0] && Object.values(rows[0])[0];
  });

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

test("it is as durable as in production, reached only from here with the password, and keeps data, port and password over a stop, a crash and a killed run", async () => {
  const directory = await temporaryFolder();
  const server = await start(directory);
  expect(await ask(server.url, "SHOW fsync")).toBe("on");
  expect(await ask(server.url, "SHOW synchronous_commit")).toBe("on");
  expect(await ask(server.url, "SHOW listen_addresses")).toBe("127.0.0.1");
  const stranger = new URL(server.url);
  stranger.password = "guessed";
  await expect(ask(stranger.href, "SELECT 1")).rejects.toThrow("password");
  expect((await stat(join(directory, "password"))).mode & 0o077).toBe(0);
  await ask(server.url, "CREATE TABLE t AS SELECT 1 AS n");
  await server.stop();
  expect(server.isAlive()).toBe(false);
  await expect(ask(server.url, "SELECT 1")).rejects.toThrow();
  await server.start();
  await ask(server.url, "UPDATE t SET n = 2");
  await server.kill();
  await server.start();
  expect(await ask(server.url, "SELECT n FROM t")).toBe(2);
  // As a killed run leaves it.
  const next = await start(directory);
  expect(isAlive(server.pid)).toBe(false);
  expect(await ask(next.url, "SELECT n FROM t")).toBe(2);
  await next.close();
  const kept = await start(directory, true);
  expect(new URL(kept.url).password).toBe(new URL(server.url).password);
  expect(await ask(kept.url, "SELECT n FROM t")).toBe(2);
  await kept.close();
  expect(existsSync(directory)).toBe(false);
});

(process.platform === "linux" && process.getuid?.() === 0 ? test : test.skip)(
  "root is told that it needs setpriv",
  async () => {
    const { PATH } = process.env;
    process.env["PATH"] = await temporaryFolder();
    try {
      await expect(startPostgres({ directory: await temporaryFolder() })).rejects.toThrow(
        "`setpriv`",
      );
    } finally {
      process.env["PATH"] = PATH;
    }
  },
);
