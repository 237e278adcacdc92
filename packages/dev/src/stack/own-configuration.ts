// The settings of your own trustflow.toml that `trustflow dev` uses: it never replaces accounts and environment.
import { relative } from "node:path";
import { requireSecrets } from "trustflow/internal/config/config.js";
import { ConfigurationError, environmentName } from "trustflow/internal/config/errors.js";
import { load, readToml } from "trustflow/internal/config/load.js";
import { ConfigWithAccounts } from "trustflow/internal/providers/accounts.js";

export interface OwnConfiguration {
  environment?: string;
  /** The providers of each account. */
  accounts: Record<string, string[]>;
  /** All that it sets: `sendPostal.pollIntervalSeconds`. */
  keys: string[];
}

const SANDBOX_ACCOUNT = "sandbox";

/** Beside accounts of one's own the sandbox's has a name of its own. */
export function sandboxAccountName(own: OwnConfiguration | undefined): string {
  return own && Object.keys(own.accounts).length > 0 ? SANDBOX_ACCOUNT : "default";
}

/** What the names of accounts stand for: processes that are open were started by it. */
export function settingOf(own: OwnConfiguration | undefined): string {
  const { environment = "sandbox", accounts = {} } = own ?? {};
  const names = Object.keys(accounts).length > 0 ? "own accounts" : "the sandbox's account";
  return `environment ${environment}, ${names}`;
}

export function accountsInWords(own: OwnConfiguration | undefined): Record<string, string> {
  const ofOwn = Object.entries(own?.accounts ?? {}).map(([name, providers]) => [
    name,
    `${providers.join(", ")} of trustflow.toml`,
  ]);
  return {
    ...Object.fromEntries(ofOwn),
    [sandboxAccountName(own)]: "every provider of the sandbox",
  };
}

/** Refuses what would make a process go to another provider than the file says. */
export function readOwnConfiguration(file: string): OwnConfiguration {
  const tree = readToml(file);
  const { environment, accounts = {} } = tree as { environment?: unknown; accounts?: object };
  const own: OwnConfiguration = {
    ...(typeof environment === "string" && { environment }),
    accounts: Object.fromEntries(
      Object.entries(accounts).map(([name, providers]) => [name, Object.keys(providers as object)]),
    ),
    keys: keysOf(tree),
  };
  const problem = problemOf(own);
  if (problem !== undefined) throw new ConfigurationError([`${file}: ${problem}`]);
  return own;
}

/** Throws what a worker with this environment would refuse. */
export function refuseUnusable(file: string, env: NodeJS.ProcessEnv): void {
  try {
    requireSecrets(load(ConfigWithAccounts, env).accounts);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const name = relative("", file);
    throw new ConfigurationError(error.problems.map((problem) => `${name}: ${problem}`));
  }
}

/** What the file sets and `dev` sets otherwise: its own servers, ports and keys. */
export function replacedKeys({ keys }: OwnConfiguration, env: Record<string, string>): string[] {
  const set = new Set(Object.keys(env));
  return keys.filter((key) => {
    const name = key === "database.url" ? "DATABASE_URL" : environmentName(key);
    return set.has(name) && key !== "environment";
  });
}

/**
 * `dev` reads no accounts from the environment. An account in the environment that is not from an earlier start of `dev` is
 * refused.
 */
export function refuseOwnVariables(given: NodeJS.ProcessEnv, written: string): void {
  const names = Object.keys(given).filter(
    (name) =>
      /^TRUSTFLOW_(ACCOUNTS__|ENVIRONMENT$)/.test(name) &&
      !written.includes(exported(name, given[name])),
  );
  if (names.length === 0) return;
  throw new ConfigurationError([
    `dev reads accounts only from trustflow.toml: write them there, or unset ${names.join(", ")}`,
  ]);
}

/** A line that a shell reads. */
export function exported(name: string, value = ""): string {
  return `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`;
}

function problemOf({ environment, accounts: own }: OwnConfiguration): string | undefined {
  const accounts = Object.keys(own);
  if (environment === "production")
    return 'dev does not run with environment = "production": --reset deletes the record of what was sent. Use the provider\'s test environment and environment = "preproduction"';
  if (accounts.includes(SANDBOX_ACCOUNT))
    return `dev uses the name ${SANDBOX_ACCOUNT} for the account of its sandbox: rename accounts.${SANDBOX_ACCOUNT}`;
  if (accounts.length > 0 && environment === undefined)
    return `accounts (${accounts.join(", ")}) are set and environment is not: add environment = "preproduction"`;
  if (accounts.length === 0 && environment !== undefined && environment !== "sandbox")
    return `environment = "${environment}" is set and no account is, so all letters would go to the sandbox: add accounts, or remove environment`;
  return undefined;
}

function keysOf(tree: object, path: string[] = []): string[] {
  return Object.entries(tree).flatMap(([name, value]: [string, unknown]) => {
    const at = [...path, name];
    return isTable(value) ? keysOf(value, at) : [at.join(".")];
  });
}

/** A table of keys; `{ env = "NAME" }` and `{ file = "path" }` are values. */
function isTable(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("env" in value || "file" in value);
}
