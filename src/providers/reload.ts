// Reads the accounts again when the configuration file changes, so that a new account needs no restart. Secrets in files are read at each
// call (src/config/fields.ts), and so are client certificates.
import { statSync } from "node:fs";
import { configurationFile } from "../config/load.js";
import { ConfigurationError } from "../config/config.js";
import { loadWithAccounts } from "./accounts.js";
import type { Accounts } from "./accounts.js";

const LOOK_MS = 5_000;

export interface Reloading {
  accounts: Accounts;
  /** Throws a ConfigurationError where the role cannot use them; a relay needs no secret of them. */
  check?: (read: Accounts) => void;
  onChange?: () => void;
  log: Record<"info" | "warn", (message: string, details: object) => void>;
  lookMs?: number;
}

/**
 * Changes `accounts` in place: open steps keep the account that they began with. An account that is gone from the file stays until the
 * restart, because its processes would fail. A file counts once it is the same at two looks, so that nobody reads half of one.
 */
export function reloadAccounts(reloading: Reloading): { close(): void } {
  const { accounts, check, onChange, log, lookMs = LOOK_MS } = reloading;
  const path = configurationFile();
  if (path === undefined) return { close() {} };
  let used = stampOf(path);
  let seen = used;
  const look = (): void => {
    const stamp = stampOf(path);
    const isStable = stamp === seen;
    seen = stamp;
    if (!isStable || stamp === used) return;
    used = stamp;
    try {
      const read = loadWithAccounts().accounts;
      check?.(read);
      Object.assign(accounts, read);
      onChange?.();
      log.info("The accounts were read again", { account: Object.keys(read).join() });
    } catch (error) {
      const why =
        error instanceof ConfigurationError ? { problem: error.problems.join("; ") } : { error };
      log.warn("The configuration cannot be used, and the accounts stay as they are", why);
    }
  };
  const timer = setInterval(look, lookMs);
  return { close: () => clearInterval(timer) };
}

/** Undefined while the file is being replaced. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino}:${found.size}:${found.mtimeNs}`;
}
