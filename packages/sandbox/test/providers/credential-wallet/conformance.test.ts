// The sandbox against the fixtures transcribed from P1 §2.11, 4.6, 5.6 (test/fixtures/credential-wallet/README.md).
import { afterAll, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { fixturesOf, type Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { differences } from "../../exchange.js";
import { holder } from "./holder.js";

const tokenHeader = { name: "X-Api-Token", prefix: "" };
const accounts = [
  { username: "owner", password: "owner" },
  { username: "other", password: "other" },
  { username: "notProvisioned", password: "notProvisioned", provisioned: false },
];

const sandbox = await startSandbox({ speed: "manual", accounts });
const withHeader = await startSandbox({ speed: "manual", accounts, walletToken: tokenHeader });
afterAll(async () => {
  await sandbox.close();
  await withHeader.close();
});

const holders: Record<string, string> = { ok: "owner", wrongToken: "nobody" };

test.each(fixturesOf("sandbox", "credential-wallet"))("%s", async (_, fixture) => {
  const { account, exists = [], existsOf = "owner", twice, tokenHeader: given } = fixture["given"];
  if (given) expect(given).toEqual(tokenHeader);
  const caller = holder(sandbox, existsOf);
  const values: Values = await caller.bring(exists);
  const second = twice ? await caller.bring(exists) : {};
  for (const [name, id] of Object.entries(second)) values[`${name}2`] = id;
  values["apiToken"] = `${holders[account] ?? account}-api-token`;
  expect(await differences(given ? withHeader : sandbox, fixture, values)).toEqual([]);
});
