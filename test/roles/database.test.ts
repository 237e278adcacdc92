// How a role talks to the database.
import { expect, test } from "vitest";
import { askDatabase } from "../../src/roles/database.js";
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
