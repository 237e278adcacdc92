// What the activities of the disposable certificate service work with (P1 §2.1–2.6, 4.1).
import type { CertificateSettings } from "../../contracts/issue-certificate/contract.js";
import type { DisposableCertificateAccount } from "../../providers/disposable-certificate/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "disposable-certificate";

export interface CertificateAccount extends DisposableCertificateAccount {
  /** Whether EMAIL codes are enabled for the LRA (P1 §2.1). */
  emailOtp: boolean;
}

export type CertificateDependencies = ProviderDependencies<CertificateAccount> & {
  defaults: { issueCertificate: CertificateSettings };
};

export class CertificateContext extends ProviderContext<typeof provider, CertificateDependencies> {}
