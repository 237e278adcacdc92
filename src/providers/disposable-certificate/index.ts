// The disposable certificate service (P1 §1.1), as the registry knows it.
import { providerEntry } from "../provider-entry.js";
import * as parts from "./account.js";
import { effects } from "./effects.js";

export const disposableCertificate = providerEntry(parts, {
  effects,
  hosts: (account) => [account],
  /** A check of an empty holder: 242 names the missing field once credentials, LRA and certificate are accepted (P1 §5.1, §7.1). */
  checkCredentials: async (account, timeoutMs) => {
    const { checkData } = await import("./client.js");
    await checkData({ ...account, timeoutMs }, { disposableHolder: {} }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "242") throw error;
    });
  },
  // P1 §7.1.
  unclearDenials: ["11002"],
});
