// The handle of `issueCertificate`.
import { provideAssertion } from "../contracts/issue-certificate/messages.js";
import type { AssertionAnswer } from "../contracts/issue-certificate/messages.js";
import type { IssueCertificateResult } from "../contracts/issue-certificate/contract.js";
import { OtpHandle } from "./one-time-password.js";

export class CertificateHandle extends OtpHandle<IssueCertificateResult> {
  /** Gives a new eID assertion after one was refused as expired or invalid (237 and 239 of P1 §7.1). */
  provideAssertion(assertion: string, updateId?: string): Promise<AssertionAnswer> {
    return this.update(provideAssertion, [{ assertion }], updateId);
  }
}
