// Accounts while the roles run: one that is added to the configuration file, and one whose crowd does not hold up another's calls.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const LIMIT_MS = 50_000;
const CROWD = 60;
const bySecond = { account: "second" };
let system: TestStack;

beforeAll(async () => {
  // Far below what the crowd asks for, so that its calls wait in the queue.
  system = await startTestStack({ env: { TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "5" } });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const submitted = async (id: string) => Object.keys(await system.effects(id)).length > 0;

test("an account that the configuration file gets serves without a restart", async () => {
  const { stack, client } = system;
  const { directory, env, logDirectory } = stack;
  const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__";
  const password = join(directory, "password");
  await writeFile(password, env[`${name}PASSWORD`] ?? "");
  const account = {
    baseUrl: env[`${name}BASE_URL`],
    username: env[`${name}USERNAME`],
  };
  const keys = Object.entries(account).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  await writeFile(
    join(directory, "trustflow.toml"),
    ["[accounts.second.evi-post]", ...keys, `password = { file = "${password}" }`].join("\n"),
  );
  const log = () => readFile(join(logDirectory, "worker.log"), "utf8");
  const isRead = async () => (await log()).includes("Accounts were read again");
  await eventually("it is read", isRead, LIMIT_MS);
  await client.sendPostal("by-second", letterInput("by-second", "delivered", bySecond));
  await eventually("it is submitted", () => submitted("by-second"), LIMIT_MS);
});

test("a crowd of one account does not hold up the letter of another", async () => {
  const { client } = system;
  const crowd = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);
  await Promise.all(crowd.map((id) => client.sendPostal(id, letterInput(id, "delivered"))));
  await client.sendPostal("alone", letterInput("alone", "delivered", bySecond));
  await eventually("it is submitted", () => submitted("alone"), LIMIT_MS);
  const served = await Promise.all(crowd.map((id) => submitted(id)));
  expect(served.filter(Boolean).length).toBeLessThan(CROWD / 2);
});
