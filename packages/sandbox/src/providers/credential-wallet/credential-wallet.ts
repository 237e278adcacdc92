// The credential wallet as a provider of the sandbox (P1 §1.6, 4.6, 5.6).
import type { SandboxParts } from "../../engine/parts.js";
import { tokenAdmission } from "../../exchange/credentials.js";
import type { SandboxProvider } from "../../exchange/operation.js";
import { refusal } from "../../exchange/refusal.js";
import { walletOperations } from "./wallet-operations.js";
import { PROVIDER, WalletService } from "./wallet-service.js";

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
    kept: wallet.objects,
  };
}
