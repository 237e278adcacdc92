// What `trustflow doctor` finds about callback addresses (docs/decisions/0020).
import { expect, test } from "vitest";
import { testDatabase } from "../../harness/stack/postgres.js";
import { doctor, expectFinding } from "./doctor.js";
import { ofFile } from "../../harness/of-file.js";

const database = ofFile(testDatabase);

test("callbackFlood: the processes whose addresses brought more than they are told of are named", async () => {
  const env = { DATABASE_URL: database.url };
  const quiet = await doctor(env);
  expect(quiet.checks.find(({ check }) => check === "callback floods")?.state).toBe("ok");
  await database.pool.query(
    `insert into trustflow.callback_addresses (address, namespace, workflow_id, surplus, refused)
     values ('a', 'default', 'sendPostal/flooded', 30, 12), ('b', 'default', 'sendPostal/other', 0, 0)`,
  );
  const report = await doctor(env);
  expectFinding(report, "callback floods", "callbackFlood", /^sendPostal\/flooded \(42 more\)$/);
});

test("addressLifeShort: addresses that end before a letter may", async () => {
  const report = await doctor({ TRUSTFLOW_CALLBACKS__ADDRESS_DAYS: "150" });
  expectFinding(
    report,
    "callback address life",
    "addressLifeShort",
    "150 days; a letter may take 127",
  );
});
