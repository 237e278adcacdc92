// The disposable certificate service (P1 §1.1), as the registry knows it.
import { providerEntry } from "../provider-entry.js";
import { accountOf, keys, sandboxKeys } from "./account.js";
import { effects } from "./effects.js";

export const disposableCertificate = providerEntry({
  keys,
  accountOf,
  sandboxKeys,
  effects,
  hosts: (account) => [account],
  checkCredentials: async (account, timeoutMs) =>
    (await import("./credential-check.js")).checkCredentials(account, timeoutMs),
  // P1 §7.1.
  unclearDenials: ["11002"],
});
