// Certified notices (P2), as the registry knows them.
import { randomUUID } from "node:crypto";
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const eviNotice = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
  /** A query for a notice that does not exist. */
  checkCredentials: async (account, timeoutMs) => {
    const { query } = await import("./client.js");
    return query({ ...account, timeoutMs }, { lookupKeys: [randomUUID()], limit: 1 });
  },
  whyNoLookUp: () => undefined,
  callback: {
    addressOf: "process",
    parser: async () => (await import("./callback.js")).parseCallback,
  },
});
