// What `trustflow dev` takes over from a trustflow.toml of one's own, and what it refuses.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  accountsInWords,
  exported,
  readOwnConfiguration,
  refuseOwnVariables,
  refuseUnusable,
  replacedKeys,
} from "../src/stack/own-configuration.js";
import { clientEnv, stackEnv } from "../src/stack/stack-env.js";
import { openState } from "../src/stack/stack-state.js";
import { environmentsOf } from "../../../src/config/environment.js";
import { load } from "../../../src/config/load.js";
import { ConfigWithAccounts } from "../../../src/providers/accounts.js";
import { trustflow } from "../../../test/cli/run.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

const folder = await temporaryFolder();
const quiet = () => undefined;

function own(text: string) {
  const file = join(folder, "trustflow.toml");
  writeFileSync(file, text);
  return readOwnConfiguration(file);
}

const account = (name = "default") => `[accounts.${name}.evi-post]
baseUrl = "https://post.example.com"
username = "acme"
password = { file = "secrets/evi-post" }
`;
const preproduction = 'environment = "preproduction"\n';
const state = await openState(join(folder, "state"), quiet);
const envOf = (text: string) =>
  stackEnv(state, { directory: folder, databaseUrl: "postgres://u:p@h/d", own: own(text) });

test("a state keeps its keys", async () => {
  const directory = join(folder, "again");
  const made = await openState(directory, quiet);
  expect((await openState(directory, quiet)).keys).toEqual(made.keys);
});

test.each([
  ["is cut off", (file: string) => writeFileSync(file, '{"keys":')],
  ["cannot be read", (file: string) => mkdirSync(file)],
])("a state that %s keeps its file, and is refused by its name", async (problem, spoil) => {
  const directory = join(folder, problem);
  await openState(directory, quiet);
  rmSync(join(directory, "stack.json"));
  spoil(join(directory, "stack.json"));
  await expect(openState(directory, quiet)).rejects.toThrow(
    /stack\.json .*delete the whole folder/,
  );
  expect(readdirSync(directory)).toEqual([".gitignore", "stack.json"]);
});

test("without accounts of its own, the default account is the sandbox's", () => {
  const env = envOf("[sendPostal]\npollIntervalSeconds = 60\n");
  expect(env).toMatchObject({
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__USERNAME: "sandbox",
  });
  expect(accountsInWords(undefined)).toEqual({ default: "every provider of the sandbox" });
});

test("an account and an environment of one's own stay, and the sandbox's account stands beside them", () => {
  const env = envOf(preproduction + account());
  expect(env["TRUSTFLOW_ENVIRONMENT"]).toBe("preproduction");
  expect(Object.keys(env).filter((name) => name.includes("ACCOUNTS__DEFAULT"))).toEqual([]);
  expect(env["TRUSTFLOW_ACCOUNTS__SANDBOX__EVI_POST__USERNAME"]).toBe("sandbox");
  expect(accountsInWords(own(preproduction + account()))).toEqual({
    default: "evi-post of trustflow.toml",
    sandbox: "every provider of the sandbox",
  });
});

test("the sandbox's account is in the sandbox, beside accounts of a test environment too", () => {
  const text = preproduction + account();
  const env = { ...envOf(text), TRUSTFLOW_CONFIG: join(folder, "trustflow.toml") };
  const environmentOf = environmentsOf(load(ConfigWithAccounts, env));
  expect(["default", "sandbox", "unknown"].map(environmentOf)).toEqual([
    "preproduction",
    "sandbox",
    "preproduction",
  ]);
});

test("a public address of one's own stays", () => {
  const given = '[callbacks]\npublicUrl = "https://tunnel.example.com"\n';
  expect(envOf("")).toHaveProperty("TRUSTFLOW_CALLBACKS__PUBLIC_URL");
  expect(envOf(given)).not.toHaveProperty("TRUSTFLOW_CALLBACKS__PUBLIC_URL");
});

test.each([
  ["accounts without an environment", account(), 'add environment = "preproduction"'],
  ["an environment without accounts", preproduction, "all letters would go to the sandbox"],
  [
    "production",
    `environment = "production"\n${account()}`,
    "--reset deletes the record of what was sent",
  ],
  [
    "an account with the sandbox's name",
    preproduction + account("sandbox"),
    "rename accounts.sandbox",
  ],
])("it refuses %s", (_, text, problem) => {
  expect(() => own(text)).toThrow(problem);
});

test.each([
  [
    "a key that does not exist",
    "[journal]\nleesSeconds = 1\n",
    "journal: unknown key: leesSeconds",
  ],
  ["a wrong value", "[sendPostal]\npollIntervalSeconds = 0\n", "sendPostal.pollIntervalSeconds: "],
  ["a missing secret", preproduction + account(), "accounts.default.evi-post.password: "],
])("before a role is stopped, %s is refused under the name of the file", (_, text, problem) => {
  const file = join(folder, "trustflow.toml");
  const env = { ...envOf(text), TRUSTFLOW_CONFIG: file };
  expect(() => refuseUnusable(file, env)).toThrow(`trustflow.toml: ${problem}`);
});

test("what it replaces has a name, secrets of the file too", () => {
  const text = `[database]\nurl = { env = "URL" }\n[keys]\ncodec = { file = "codec" }\n[sendPostal]\npollIntervalSeconds = 60\n`;
  expect(replacedKeys(own(text), envOf(text))).toEqual(["database.url", "keys.codec"]);
  const accounts = preproduction + account();
  expect(replacedKeys(own(accounts), envOf(accounts))).toEqual([]);
});

test("accounts in the environment are refused, unless they are those of an earlier dev", () => {
  const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL";
  const given = { [name]: "http://127.0.0.1:1", TRUSTFLOW_KEYS__CODEC: "k1:x", PATH: "/bin" };
  expect(() => refuseOwnVariables(given, "")).toThrow(`unset ${name}`);
  expect(() => refuseOwnVariables(given, exported(name, "http://127.0.0.1:2"))).toThrow(name);
  refuseOwnVariables(given, exported(name, "http://127.0.0.1:1"));
});

test("processes of the sandbox's accounts do not go on with accounts of one's own", async () => {
  const kept = join(folder, "kept");
  await openState(kept, quiet);
  await openState(kept, quiet);
  const other = "environment preproduction, own accounts";
  await expect(openState(kept, quiet, other)).rejects.toThrow("--reset");
  await openState(join(folder, "another"), quiet, other);
});

test("a client's environment has no database, no account and no key but those of payloads and documents", () => {
  expect(Object.keys(clientEnv(state, folder)).toSorted()).toEqual([
    "TEMPORAL_ADDRESS",
    "TEMPORAL_CONFIG_FILE",
    "TEMPORAL_NAMESPACE",
    "TRUSTFLOW_CONFIG",
    "TRUSTFLOW_DOCUMENTS__DIRECTORY",
    "TRUSTFLOW_KEYS__CODEC",
    "TRUSTFLOW_KEYS__CODEC_WRITE",
    "TRUSTFLOW_KEYS__DOCUMENTS",
    "TRUSTFLOW_KEYS__SECRETS_PUBLIC",
    "TRUSTFLOW_SANDBOX__URL",
  ]);
});

test("dev ends with 4 and says so, before it starts anything", async () => {
  writeFileSync(join(folder, "trustflow.toml"), account());
  const { code, stdout, stderr } = await trustflow(["dev"], { cwd: folder });
  expect([code, stdout]).toEqual([4, ""]);
  expect(stderr).toContain("accounts (default) are set and environment is not");
  expect(existsSync(join(folder, ".trustflow"))).toBe(false);
});
