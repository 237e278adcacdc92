// What a role's readiness asks of the database.
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
