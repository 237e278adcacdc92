import { afterAll, beforeAll, expect, test } from "vitest";
import { newSecret } from "../../../src/webhooks/signature.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import type { TestDatabase } from "../../harness/stack/postgres.js";
import { commandLine } from "../in-process.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await database.pool.query(
    `insert into trustflow.webhook_deliveries (namespace, endpoint, state)
     values ('default', 'billing', 'failed'), ('default', 'billing', 'failed'), ('other', 'billing', 'failed')`,
  );
});
afterAll(() => database.close());

const replay = (args: string[], env = {}) =>
  commandLine(["webhooks", "replay", ...args], { env: { DATABASE_URL: database.url, ...env } });
const configured = {
  TRUSTFLOW_WEBHOOKS__BILLING__URL: "https://billing.example",
  TRUSTFLOW_WEBHOOKS__BILLING__SECRET: newSecret(),
};

test("replay --failed knows its endpoint, and says how many are sent again", async () => {
  expect(await replay(["--failed", "bilings"], configured)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("webhooks.bilings is not configured"),
  });
  expect(await replay(["--failed", "billing"], configured)).toMatchObject({
    code: 0,
    stdout: "1  replayed\n2  replayed\n2 replayed\n",
  });
  // An operator's configuration may have no endpoint.
  expect(await replay(["--failed", "bilings"])).toMatchObject({ code: 0, stdout: "0 replayed\n" });
});

test("replay takes a number with zeros before it, and none of another namespace", async () => {
  await database.pool.query("update trustflow.webhook_deliveries set state = 'failed'");
  expect(await replay(["01"])).toMatchObject({ code: 0, stdout: "1  replayed\n" });
  const { code, stdout } = await replay(["2", "3"]);
  expect([code, stdout]).toEqual([
    1,
    "2  replayed\n3  not replayed: it still waits, or is unknown\n",
  ]);
});
