// Accounts that are read again while a role runs (src/providers/reload.ts).
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requireSecrets } from "../../src/config/config.js";
import { loadWithAccounts } from "../../src/providers/accounts.js";
import { reloadAccounts } from "../../src/providers/reload.js";
import type { Reloading } from "../../src/providers/reload.js";
import { until } from "../harness/outages/wait.js";
import { temporaryFolder } from "../harness/temporary.js";

const before = process.env;
const accountOf = (name: string, username: string) =>
  [
    `[accounts.${name}.evi-post]`,
    'baseUrl = "https://post.example"',
    `username = "${username}"`,
    'password = { env = "PASSWORD" }',
  ].join("\n");

let file: string;
let write: (...accounts: string[]) => Promise<void>;
beforeEach(async () => {
  file = join(await temporaryFolder(), "trustflow.toml");
  write = (...accounts) => writeFile(file, accounts.join("\n"));
  process.env = { TRUSTFLOW_CONFIG: file, PASSWORD: "p" };
});
let reloading: ReturnType<typeof reloadAccounts> | undefined;
afterEach(() => {
  reloading?.close();
  process.env = before;
});

const unusable = "The configuration cannot be used, and the accounts stay as they are";

/** What a role has of the file, and is told of its changes. */
function reload(options: Partial<Reloading> = {}) {
  const { accounts } = loadWithAccounts();
  const told: string[] = [];
  const tell = (message: string) => void told.push(message);
  reloading = reloadAccounts({ accounts, log: { info: tell, warn: tell }, lookMs: 5, ...options });
  return { accounts, told };
}

test("new and changed accounts count, one that is gone stays, and an unusable file changes nothing", async () => {
  await write(accountOf("default", "first"), accountOf("old", "old"));
  const onChange = vi.fn();
  const { accounts, told } = reload({ onChange });
  const names = () =>
    Object.entries(accounts).map(([name, of]) => [name, of["evi-post"]?.username]);
  await write(accountOf("default", "second"), accountOf("new", "new"));
  await until(() => told.length === 1);
  expect(names()).toEqual([
    ["default", "second"],
    ["old", "old"],
    ["new", "new"],
  ]);
  expect(onChange.mock.calls).toEqual([[["default", "new"]]]);
  await write("[accounts.default.evi-post]", "baseUrl = 1");
  await until(() => told.length === 2);
  await rm(file);
  await write(accountOf("default", "third"));
  await until(() => names()[0]?.[1] === "third");
  expect(told[1]).toBe(unusable);
  expect(names()[0]).toEqual(["default", "third"]);
});

test("an account that has not changed stays the same object, and one whose secret comes later counts then", async () => {
  const { PASSWORD } = process.env;
  await write(accountOf("default", "first"));
  const onChange = vi.fn();
  const { accounts, told } = reload({ check: requireSecrets, onChange });
  const { default: unchanged } = accounts;
  delete process.env["PASSWORD"];
  await write(accountOf("default", "first"), accountOf("new", "new"));
  await until(() => told.length === 1);
  expect(accounts).not.toHaveProperty("new");
  Object.assign(process.env, { PASSWORD });
  await until(() => onChange.mock.calls.length > 0);
  expect(onChange.mock.calls).toEqual([[["new"]]]);
  expect(accounts["default"]).toBe(unchanged);
  expect(told).toEqual([unusable, "Accounts were read again"]);
});

test.each([
  ["a worker", requireSecrets, unusable],
  ["a relay", undefined, "Accounts were read again"],
])("%s, where secrets of the accounts are missing", async (_, check, message) => {
  await write(accountOf("default", "first"));
  const { told } = reload(check ? { check } : {});
  delete process.env["PASSWORD"];
  await write(accountOf("default", "first"), accountOf("new", "new"));
  await until(() => told.length > 0);
  expect(told).toEqual([message]);
});
