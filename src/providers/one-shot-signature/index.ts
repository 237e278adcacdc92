// The one-shot signature service (P1 §1.4), as the registry knows it.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const oneShotSignature = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
  checkCredentials: async (account, timeoutMs) =>
    (await import("./client.js")).listTokens({ ...account, timeoutMs }),
  whyNoLookUp: ({ paths }) =>
    paths.retrieve === undefined ? 'paths.retrieve is "none", so there is no such call' : undefined,
  callback: {
    addressOf: "account",
    parser: async () => (await import("./callback.js")).parseAccountCallback,
  },
});
