// The credential wallet (P1 §1.6), as the registry knows it. It shows no operation without an effect, so it has no credential check.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const credentialWallet = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
});
