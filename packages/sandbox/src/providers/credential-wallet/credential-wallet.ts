// The credential wallet as a provider of the sandbox (P1 §1.6, 4.6, 5.6).
import { tokenAdmission } from "../../exchange/credentials.js";
import type { ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { PROVIDER } from "./magic.js";
import { refusal } from "../../exchange/refusal.js";
import { summary, type WalletObject } from "./wallet-object.js";
import { walletOperations } from "./wallet-operations.js";
import { WalletService } from "./wallet-service.js";

export function credentialWallet(parts: SandboxParts): SandboxProvider {
  const wallet = new WalletService(parts);

  return {
    name: PROVIDER,
    operations: walletOperations(wallet),
    authenticate: (arrival) =>
      tokenAdmission(arrival, parts.options.walletToken, (token) =>
        parts.accounts.holding("apiToken", token),
      ),
    refuse: (status, code, message) => refusal(status, String(code), message),
    *items(): Iterable<ItemSummary> {
      for (const object of wallet.all()) yield summary(object);
    },
    item(id) {
      const object = wallet.get(id);
      return object && { ...object, ...summary(object) };
    },
    save: () => wallet.save(),
    load: (state) => wallet.load(state as WalletObject[]),
    clear: () => wallet.clear(),
  };
}
