// One process holds a name, and another one takes it when the holder ends or loses its connection.
import { afterAll, beforeAll, expect, test } from "vitest";
import { SoleHolder } from "../../src/postgres/sole-holder.js";
import { eventually } from "../harness/outages/wait.js";
import { testDatabase, type TestDatabase } from "../harness/stack/postgres.js";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ migrated: false, pool: { onError: () => undefined } });
}, 60_000);
afterAll(() => database?.close());

test("one holds a name until it ends or its connection breaks; another name is free", async () => {
  const [first, second] = [new SoleHolder(database.pool, "a"), new SoleHolder(database.pool, "a")];
  const other = new SoleHolder(database.pool, "b");
  expect([await first.isHeld(), await second.isHeld(), await first.isHeld()]).toEqual([
    true,
    false,
    true,
  ]);
  expect(await other.isHeld()).toBe(true);
  first.close();
  await eventually("it is free", () => second.isHeld());
  expect(await first.isHeld()).toBe(false);
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
       and database = (select oid from pg_database where datname = current_database())`,
  );
  await eventually("the other one has it", () => first.isHeld());
  expect(await second.isHeld()).toBe(false);
  for (const one of [first, second, other]) one.close();
}, 30_000);

test("what a machine holds that is lost is free after a minute, whether an answer was on its way to it or not", async () => {
  const { rows } = await database.pool.query(
    `select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
       current_setting('tcp_user_timeout') as timeout`,
  );
  expect(rows).toEqual([{ idle: "30", interval: "10", timeout: "60000" }]);
});
