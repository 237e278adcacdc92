// Reads the accounts again when the configuration file changes, so that a new account needs no restart. Secrets in files are read at each
// call (src/config/fields.ts), and so are client certificates.
import { configurationFile, readToml } from "../config/load.js";
import { ConfigurationError } from "../config/config.js";
import { loadWithAccounts } from "./accounts.js";
import type { Accounts } from "./accounts.js";
import { stampOf } from "./http/client-certificate.js";

const LOOK_MS = 5_000;

export interface Reloading {
  accounts: Accounts;
  /** Throws a ConfigurationError where the role cannot use them; a relay needs no secret of them. */
  check?: (read: Accounts) => void;
  /** Gets the names of the new and changed ones. */
  onChange?: (names: string[]) => void;
  log: Record<"info" | "warn", (message: string, details: object) => void>;
  lookMs?: number;
}

/**
 * Changes `accounts` in place: a call that is under way keeps the account that it began with. What is gone from the file stays until the
 * restart, because its processes would fail. A file counts once it is the same at two looks, so that nobody reads half of one.
 */
export function reloadAccounts(reloading: Reloading): { close(): void } {
  const { accounts, check, onChange, log, lookMs = LOOK_MS } = reloading;
  const path = configurationFile();
  if (path === undefined) return { close() {} };
  let used = stampOrNone(path);
  let seen = used;
  let texts = textsIn(path);
  let told: string | undefined;
  const renew = (): void => {
    const read = loadWithAccounts().accounts;
    check?.(read);
    const now = textsIn(path);
    const names = Object.keys(now).filter((name) => now[name] !== texts[name]);
    for (const name of names) accounts[name] = { ...accounts[name], ...read[name] };
    texts = now;
    if (names.length === 0) return;
    onChange?.(names);
    log.info("Accounts were read again", { account: names.join() });
  };
  const look = (): void => {
    const stamp = stampOrNone(path);
    const isStable = stamp === seen;
    seen = stamp;
    if (!isStable || stamp === used) return;
    try {
      renew();
      used = stamp;
      told = undefined;
    } catch (error) {
      // What is missing may come without a change of this file.
      const why =
        error instanceof ConfigurationError ? { problem: error.problems.join("; ") } : { error };
      const warning = JSON.stringify([stamp, why]);
      if (told !== warning)
        log.warn("The configuration cannot be used, and the accounts stay as they are", why);
      told = warning;
    }
  };
  const timer = setInterval(look, lookMs);
  return { close: () => clearInterval(timer) };
}

/** Each account as the file has it: only those that change are made anew, because they hold certificates and secrets. */
function textsIn(path: string): Record<string, string> {
  const { accounts = {} } = readToml(path) as { accounts?: object };
  return Object.fromEntries(
    Object.entries(accounts).map(([name, account]) => [name, JSON.stringify(account)]),
  );
}

/** Undefined while the file is being replaced. */
function stampOrNone(path: string): string | undefined {
  try {
    return stampOf(path);
  } catch {
    return undefined;
  }
}
