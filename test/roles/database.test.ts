// How a role talks to the database.
import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { askDatabase } from "../../src/roles/database.js";
import { eventually } from "../harness/outages/wait.js";
import { testDatabase } from "../harness/stack/postgres.js";

test("a database that takes no writes, as a standby, is told of", async () => {
  const { pool, close } = await testDatabase({ pool: { max: 1 } });
  expect(await askDatabase(pool)).toBe(true);
  await pool.query("set default_transaction_read_only = on");
  expect(await askDatabase(pool)).toBe("it takes no writes");
  await close();
});

test("work waits for a connection as long as a statement may take, where a busy server needs that", async () => {
  const { pool, close } = await testDatabase({ pool: { max: 1 } });
  const busy = pool.query("select pg_sleep(4)");
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await busy;
  await close();
});

/** Seconds until Linux asks whether the other end of a connection is still there. */
function secondsUntilProbe({ localPort = 0 }: Socket): number | false {
  const port = localPort.toString(16).toUpperCase().padStart(4, "0");
  const all = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const row = all
    .map((line) => line.trim().split(/ +/))
    .find(([, own]) => own?.endsWith(`:${port}`));
  const [timer, ticks = ""] = row?.[5]?.split(":") ?? [];
  return timer === "02" && Number.parseInt(ticks, 16) / 100;
}

test("an end of a connection that nobody tells of is noticed within a minute, also where nothing is asked", async () => {
  const { pool, close } = await testDatabase();
  const client = await pool.connect();
  const { connection } = client as unknown as { connection: { stream: Socket } };
  const seconds = await eventually("the timer", () => secondsUntilProbe(connection.stream));
  client.release();
  await close();
  expect(seconds).toBeLessThanOrEqual(30);
});
