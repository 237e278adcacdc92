// The video identification service (P1 §1.2), as the registry knows it. Each call with the key needs a conference or changes
// something, so it has no credential check.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const videoIdentification = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
  whatIsNotShown({ pointers: { state, conference } }) {
    const costs = [
      state === undefined &&
        "pointers.state is none, so the provider shows no end of a call: any callback that names the conference ends the call as closed, a forged one too, an operator has to confirm the deletion of an audit, and a call without such a callback ends as openAtDeadline",
      conference === undefined &&
        "pointers.conference is none, so no token of a call-closing event proves anything: an event that has only a token is lost",
    ].filter(Boolean);
    return costs.length === 0 ? undefined : costs.join("; ");
  },
  callback: {
    addressOf: "account",
    carriesSecret: true,
    parser: async () => (await import("./callback.js")).parseAccountCallback,
  },
});
