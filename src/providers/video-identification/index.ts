// The video identification service (P1 §1.2), as the registry knows it. Each call with the key needs a conference or changes
// something, so it has no credential check.
import { providerEntry } from "../provider-entry.js";
import { accountOf, keys, sandboxKeys } from "./account.js";
import { effects } from "./effects.js";

export const videoIdentification = providerEntry({
  keys,
  accountOf,
  sandboxKeys,
  effects,
  hosts: (account) => [account],
  callback: {
    addressOf: "account",
    carriesSecret: true,
    parser: async () => (await import("./callback.js")).parseAccountCallback,
  },
});
