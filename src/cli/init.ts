// `trustflow init`: asks which providers one has, and writes a trustflow.toml that is checked. The required keys of a provider come from
// its own description, and secrets stay out of the file.
import { createInterface } from "node:readline/promises";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Option } from "commander";
import type { Command } from "commander";
import { z } from "zod";
import { checkInput } from "../contracts/shared/problems.js";
import { shellWord } from "../contracts/shared/text.js";
import { load } from "../config/load.js";
import { suggestionFor } from "../contracts/shared/nearest.js";
import { ConfigWithAccounts } from "../providers/accounts.js";
import { entryOf, providerNames } from "../providers/registry.js";
import type { Provider } from "../providers/registry.js";
import { addCommand, collect } from "./command.js";
import { checkLines } from "./doctor.js";
import { enteredLine } from "./entered.js";
import { invalidInput, writePrivate } from "./files.js";
import { exitCodes } from "./output/exit.js";
import { writeData, writeJson, writeNote } from "./output/output.js";
import { terminal } from "./output/terminal.js";

const environments = ["preproduction", "production"] as const;

interface InitOptions {
  environment?: (typeof environments)[number];
  provider?: Provider[];
  set: string[];
  file: string;
  json?: boolean;
}

/** What stands in the file of an account: texts, and where its secrets are. */
type Account = Record<string, Value | { file: string }>;
type Value = string | number | boolean | string[];

interface Described {
  required?: string[];
  properties?: Record<string, { description?: string; isRequired?: boolean }>;
}

export function addInit(program: Command): void {
  addCommand(program, "init", {
    summary: "write the configuration of your own accounts",
    details: `Asks on a terminal which providers you have, and for the keys that each of them requires. Elsewhere --provider and --set say it.
Writes trustflow.toml, and overwrites no file. A secret never stands in it: it names a file below secrets.
On a terminal a secret that you enter is written into its file, and not shown.
Then checks the accounts as the doctor does, by calls without an effect; ends with 4 if a check fails.`,
    example: `trustflow init
trustflow init --environment preproduction --provider evi-post --set evi-post.baseUrl=https://post.test.example.com --set evi-post.username=acme`,
  })
    .addOption(new Option("--environment <environment>", "of the accounts").choices(environments))
    .addOption(
      new Option("--provider <provider...>", "a provider that you have").choices(providerNames),
    )
    .option("--set <provider.key=value>", "a key of a provider; not for secrets", collect, [])
    .option("--file <file>", "the file to write", "trustflow.toml")
    .action(init);
}

async function init(options: InitOptions): Promise<void> {
  const { file, json } = options;
  if (existsSync(file))
    throw invalidInput([
      {
        path: "--file",
        problem: `${file} exists already and is not overwritten: edit it, delete it, or name another file`,
      },
    ]);
  const isAsking = process.stdin.isTTY && process.stderr.isTTY && !json;
  const environment = options.environment ?? (isAsking ? await askEnvironment() : environments[0]);
  const chosen = options.provider ?? (isAsking ? await askProviders() : []);
  if (chosen.length === 0)
    throw invalidInput([
      { path: "--provider", problem: `is required; ${suggestionFor("", providerNames)}` },
    ]);
  const given = keysGiven(options.set, chosen);
  const accounts: [Provider, Account][] = [];
  for (const provider of chosen)
    accounts.push([provider, await accountOf(provider, given[provider] ?? {}, isAsking)]);
  await writePrivate(file, tomlOf(environment, accounts), "--file");
  const config = await loaded(file);
  if (isAsking) await askSecrets(accounts);
  await report(config, file, environment, json);
}

/** Removes what cannot be loaded, such as an address in clear text. */
async function loaded(file: string): Promise<ConfigWithAccounts> {
  try {
    return load(ConfigWithAccounts, { ...process.env, TRUSTFLOW_CONFIG: file });
  } catch (error) {
    await rm(file);
    throw error;
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", () => {
    lines.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

async function askEnvironment(): Promise<(typeof environments)[number]> {
  const answer = await ask(`Environment of the accounts (${environments.join(" or ")}): `);
  return environments.find((one) => one === answer) ?? askEnvironment();
}

async function askProviders(): Promise<Provider[]> {
  const chosen: Provider[] = [];
  for (const provider of providerNames)
    if (/^y(es)?$/i.test(await ask(`Do you have an account of ${provider}? [y/N] `)))
      chosen.push(provider);
  return chosen;
}

function keysGiven(set: string[], chosen: Provider[]): Partial<Record<Provider, Account>> {
  const given: Partial<Record<Provider, Account>> = {};
  for (const text of set) {
    const [, provider = "", key = "", value = ""] = /^([^.=]+)\.([^=]+)=(.*)$/.exec(text) ?? [];
    const known = chosen.find((one) => one === provider);
    const refuse = (problem: string) => invalidInput([{ path: "--set", problem }]);
    if (!known)
      throw refuse(`must begin with a chosen provider; ${suggestionFor(provider, chosen)}`);
    const { properties = {} } = describedKeys(known);
    if (isSecret(properties[key]))
      throw refuse(
        `${provider}.${key} is a secret, which other users of the machine could see here`,
      );
    if (!Object.hasOwn(properties, key))
      throw refuse(`${provider} has no key ${key}; ${suggestionFor(key, Object.keys(properties))}`);
    (given[known] ??= {})[key] = typed(known, key, value);
  }
  return given;
}

const describedKeys = (provider: Provider) =>
  z.toJSONSchema(entryOf(provider).keys, { io: "input", unrepresentable: "any" }) as Described;

const isSecret = (described: { description?: string } = {}) =>
  /^secret\b/.test(described.description ?? "");

/** As the provider takes the key: as text, or as what the text says. */
function typed(provider: Provider, key: string, text: string): Value {
  const known: Value[] = [text, Number(text), text === "true", text.split(",")];
  const isTaken = (value: Value) =>
    !checkInput(entryOf(provider).keys, { [key]: value }).fields.some(
      ({ path }) => path.split(".", 1)[0] === key,
    );
  return known.find((value) => (value !== false || text === "false") && isTaken(value)) ?? text;
}

/** With all keys that the provider requires. */
async function accountOf(provider: Provider, given: Account, isAsking: boolean): Promise<Account> {
  const { properties = {} } = describedKeys(provider);
  const names = Object.keys(properties).filter((name) => properties[name]?.isRequired);
  const account: Account = { ...given };
  for (const name of names) account[name] = { file: `secrets/${provider}.${name}` };
  for (;;) {
    const [problem, ...more] = checkInput(entryOf(provider).keys, account, [provider]).fields;
    if (!problem) return account;
    if (!isAsking) throw invalidInput([problem, ...more]);
    // The one key of a pair is there, and the other one is missing.
    const named = problem.path.slice(provider.length + 1);
    const key = named === "certificateFile" && account[named] !== undefined ? "keyFile" : named;
    const about = properties[key]?.description ?? "";
    if (account[named] !== undefined || named === "certificateFile")
      writeNote(terminal`${problem.path}: ${problem.problem}`);
    const answer = await ask(`${provider}.${key}${about === "" ? "" : ` (${about})`}: `);
    account[key] = typed(provider, key, answer);
  }
}

function tomlOf(environment: string, accounts: [Provider, Account][]): string {
  const tables = accounts.map(([provider, account]) => {
    const lines = Object.entries(account).map(([key, value]) => `${key} = ${tomlValue(value)}\n`);
    return `\n[accounts.default.${provider}]\n${lines.join("")}`;
  });
  return `environment = "${environment}"\n${tables.join("")}`;
}

/** TOML writes texts, numbers, truth values and lists of texts as JSON does. */
function tomlValue(value: Account[string]): string {
  if (typeof value !== "object" || Array.isArray(value)) return JSON.stringify(value);
  return `{ file = ${JSON.stringify(value.file)} }`;
}

/** Writes those that are entered; the others can be put into their files later. */
async function askSecrets(accounts: [Provider, Account][]): Promise<void> {
  for (const [provider, account] of accounts)
    for (const [key, value] of Object.entries(account)) {
      if (typeof value !== "object" || !("file" in value) || existsSync(value.file)) continue;
      const entered = await enteredLine(`${provider}.${key} (not shown; empty: later):`);
      if (entered === "") continue;
      await mkdir(dirname(value.file), { recursive: true, mode: 0o700 });
      await writePrivate(value.file, entered, `${provider}.${key}`);
    }
}

async function report(
  config: ConfigWithAccounts,
  file: string,
  environment: string,
  json?: boolean,
): Promise<void> {
  const { examineAccounts } = await import("./doctor/examine.js");
  const checks = await examineAccounts(config);
  const isOk = checks.every(({ state }) => state !== "fail");
  const named = file === "trustflow.toml" ? "" : ` --config ${shellWord(file)}`;
  const next =
    environment === "production"
      ? "trustflow keys generate --secrets secrets"
      : `trustflow dev --directory .trustflow-preproduction${named}`;
  if (json) writeJson({ file, ok: isOk, checks, next });
  else {
    writeData(checkLines(checks));
    writeNote(
      terminal`${file} is written; ${isOk ? "next" : "correct what FAIL names, then"}: ${next}`,
    );
  }
  if (!isOk) process.exitCode = exitCodes.unreachable;
}
