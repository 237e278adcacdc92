// The messaging gateway (P1 §1.3), as the registry knows it. It shows no operation without an effect, so it has no credential check.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const messagingGateway = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
});
