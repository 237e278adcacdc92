// An account as the configuration makes it from variables of the environment: with the default of every key that is not given.
import { FromEnvironment } from "../../src/config/fields.js";
import { Accounts, accountsOf } from "../../src/providers/accounts.js";
import type { AccountOf, Provider } from "../../src/providers/registry.js";

/** Writes each text that travels with a call. */
export type Say = (text: string) => string;

export function defaultAccount<P extends Provider>(
  provider: P,
  variables: Record<string, string>,
): AccountOf<P> {
  const keys = Object.entries(variables).map(([key, text]) => [key, new FromEnvironment(text)]);
  const accounts = Accounts.parse({ default: { [provider]: Object.fromEntries(keys) } });
  const { default: account } = accountsOf({ accounts }, provider);
  if (!account) throw new Error(`no account of ${provider}`);
  return { ...account, timeoutMs: 5000 };
}
