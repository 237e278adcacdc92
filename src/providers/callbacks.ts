// The parsers of callbacks, as the relay takes them.
import type { Accounts } from "./accounts.js";
import type { AccountCallbackParser, ProcessCallbackParser } from "./provider-entry.js";
import { entryOf, providerNames } from "./registry.js";

/** `account`: whose address the callback came to. */
type AccountParser = (
  account: string,
  body: unknown,
  receivedAt: Date,
) => ReturnType<AccountCallbackParser<unknown>>;

/** By provider. `parsers` parse callbacks to a process's own address, `sources` those to an account's address. */
export async function callbackParsers({ accounts }: { accounts: Accounts }) {
  const parsers: Record<string, ProcessCallbackParser> = {};
  const sources: Record<string, AccountParser> = {};
  for (const name of providerNames) {
    const { callback } = entryOf(name);
    if (callback?.addressOf === "process") parsers[name] = await callback.parser();
    if (callback?.addressOf !== "account") continue;
    const parse = await callback.parser();
    sources[name] = (account, body, receivedAt) =>
      parse(body, receivedAt, accounts[account]?.[name]);
  }
  return { parsers, sources };
}

/** The accounts whose callbacks carry a secret, which a relay keeps only with `keys.secretsPublic` (docs/decisions/0033). */
export function accountsWithSecretCallbacks({ accounts }: { accounts: Accounts }): string[] {
  return Object.entries(accounts).flatMap(([account, providers]) =>
    providerNames.flatMap((name) => {
      const { callback } = entryOf(name);
      const carriesSecret = callback?.addressOf === "account" && callback.carriesSecret;
      return providers[name] && carriesSecret ? [`${account} ${name}`] : [];
    }),
  );
}
