// What the activities of the credential wallet work with (P1 §1.6).
import type { CredentialWalletAccount } from "../../providers/credential-wallet/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "credential-wallet";

export type WalletDependencies = ProviderDependencies<CredentialWalletAccount>;

export class WalletContext extends ProviderContext<typeof provider, WalletDependencies> {}
