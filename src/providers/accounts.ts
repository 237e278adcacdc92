// The accounts: by name, for each provider where it is reached and as whom; and each as the provider's client takes it.
import { z } from "zod";
import { Config } from "../config/config.js";
import { load } from "../config/load.js";
import { AccountName } from "../contracts/shared/values.js";
import type { AccountSettings } from "./provider-entry.js";
import { providerNames, providers } from "./registry.js";
import type { AccountKeys, AccountOf, Provider } from "./registry.js";

const byProvider = Object.fromEntries(
  providerNames.map((name) => [name, providers[name].keys.optional()]),
) as unknown as { [P in Provider]: z.ZodOptional<(typeof providers)[P]["keys"]> };

export const Accounts = z.record(AccountName, z.strictObject(byProvider)).prefault({});
export type Accounts = z.infer<typeof Accounts>;

/** The whole configuration, as every command and role reads it. */
export const ConfigWithAccounts = Config.extend({ accounts: Accounts });
export type ConfigWithAccounts = z.infer<typeof ConfigWithAccounts>;

export const loadWithAccounts = (): ConfigWithAccounts => load(ConfigWithAccounts);

/** Called when the new certificate files of an account are unusable and the previous certificate stays in use. */
export type OnKeptCertificate = (about: {
  provider: Provider;
  account: string;
  code: string | undefined;
}) => void;

/** By account name, for those that have the provider. */
export function accountsOf<P extends Provider>(
  { accounts }: { accounts: Accounts },
  provider: P,
  onKept: OnKeptCertificate = () => undefined,
): Record<string, AccountOf<P>> {
  const make = providers[provider].accountOf as unknown as (
    keys: AccountKeys<P>,
    settings: AccountSettings,
  ) => AccountOf<P>;
  const found = Object.entries(accounts).flatMap(([name, configured]) => {
    const keys = configured[provider] as AccountKeys<P> | undefined;
    if (keys === undefined) return [];
    const settings: AccountSettings = {
      name,
      onKept: (code) => onKept({ provider, account: name, code }),
    };
    return [[name, make(keys, settings)] as const];
  });
  return Object.fromEntries(found);
}

export const allAccountsOf = (config: { accounts: Accounts }, onKept?: OnKeptCertificate) =>
  Object.fromEntries(providerNames.map((name) => [name, accountsOf(config, name, onKept)])) as {
    [P in Provider]: Record<string, AccountOf<P>>;
  };
