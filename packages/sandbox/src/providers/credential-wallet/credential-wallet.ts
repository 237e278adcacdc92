// The credential wallet as a provider of the sandbox (P1 §1.6, 4.6, 5.6).
import { header } from "../../exchange/credentials.js";
import type { Admission, Arrival, ItemSummary, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { PROVIDER } from "./magic.js";
import { refusal } from "./refusal.js";
import { summary, type WalletObject } from "./wallet-object.js";
import { walletOperations } from "./wallet-operations.js";
import { WalletService } from "./wallet-service.js";

export function credentialWallet(parts: SandboxParts): SandboxProvider {
  const wallet = new WalletService(parts);
  const { name, prefix } = parts.options.walletToken;

  function authenticate(arrival: Arrival): Admission {
    const value = header(arrival, name.toLowerCase());
    const account = value?.startsWith(prefix)
      ? parts.accounts.holding("apiToken", value.slice(prefix.length))
      : undefined;
    if (!account) {
      const denial = refusal(401, "unauthorized", "wrong or missing token");
      return { denial, ...(value === undefined && { missing: name }) };
    }
    if (account.provisioned) return { account };
    return { account, denial: refusal(403, "forbidden", "the account is not provisioned") };
  }

  return {
    name: PROVIDER,
    operations: walletOperations(wallet),
    authenticate,
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
