// Certified notices (P2), as the registry knows them.
import { providerEntry } from "../provider-entry.js";
import { accountOf, keys, sandboxKeys } from "./account.js";
import { effects } from "./effects.js";

export const eviNotice = providerEntry({
  keys,
  accountOf,
  sandboxKeys,
  effects,
  hosts: (account) => [account],
  checkCredentials: async (account, timeoutMs) =>
    (await import("./credential-check.js")).checkCredentials(account, timeoutMs),
  whyNoLookUp: () => undefined,
  callback: {
    addressOf: "process",
    parser: async () => (await import("./callback.js")).parseCallback,
  },
});
