// Certified post (P2), as the registry knows it.
import { randomUUID } from "node:crypto";
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const eviPost = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
  /** A query for an item that does not exist. */
  checkCredentials: async (account, timeoutMs) => {
    const { query } = await import("./client.js");
    return query({ ...account, timeoutMs }, { uniqueIds: [randomUUID()], limit: 1 });
  },
  whyNoLookUp: () => undefined,
  callback: {
    addressOf: "process",
    parser: async () => (await import("./callback.js")).parseCallback,
  },
});
