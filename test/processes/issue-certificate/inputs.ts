// Holders of certificates for tests: their data with an intent that the sandbox's ledger knows, and the codes that reach them.
import type { IssueCertificateInput } from "../../../src/client.js";
import type { SandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { eventually } from "../../harness/outages/wait.js";
import type { Stopped } from "../stopped.js";

const secrets = { password: "holder-password", securityCode: "holder-code" };

/** An input whose intent is the holder's identification code. */
export function holderInput(
  intent: string,
  magic = "",
  more: Partial<IssueCertificateInput> = {},
): IssueCertificateInput {
  return {
    disposableHolder: {
      firstName: magic === "" ? "Ada" : `sandbox:${magic}`,
      lastName: "Byron",
      identificationType: "ITALIAN_TAX_CODE",
      identificationCode: intent,
      identificationCountry: "IT",
      birthDate: "1990-12-10",
      birthCity: "Roma",
    },
    disposableDoc: {
      documentType: "CI",
      documentNr: "AX1234567",
      documentIssuer: "Comune di Roma",
      documentIssuerDate: "2020-01-01",
      documentIssuerCountry: "IT",
      documentExpirationDate: "2030-01-01",
    },
    disposableCertificate: { ...secrets, type: "DISPOSABLE", otpType: "SMS" },
    disposableContacts: { mobile: "+390612345678" },
    smsOptions: { textSMS: "Your code is $OTP$" },
    settings: fastOtp,
    ...more,
  };
}

/** The same with an eID assertion, made at `issuedAt`. */
export function assertionInput(intent: string, issuedAt: Date, magic = ""): IssueCertificateInput {
  return {
    eidAssertionHolder: {
      country: "IT",
      eIDType: "EIDVENDOR",
      assertion: assertionOf(intent, issuedAt, magic),
    },
    contacts: { mobile: "+390612345678" },
    certificate: { ...secrets, fullData: true, otpType: "SMS", type: "DISPOSABLE" },
    smsOptions: { textSMS: "Your code is $OTP$" },
    settings: fastOtp,
  };
}

/** Base64 of the ten claims (P1 §2.2). */
export function assertionOf(intent: string, issuedAt: Date, magic = ""): string {
  const claims = {
    given_name: magic === "" ? "Ada" : `sandbox:${magic}`,
    family_name: "Byron",
    person_identifier: intent,
    birth_date: "1990-12-10",
    doc_type: "CI",
    country: "IT",
    rp_name: "Relying Party",
    rp_id: "rp-1",
    original_assertion: "b3JpZ2luYWw=",
    iat: Math.floor(issuedAt.getTime() / 1_000),
  };
  return Buffer.from(JSON.stringify(claims)).toString("base64");
}

/** A code may be requested again at once. */
const fastOtp = { resendSpacingSeconds: 0 };

/** The newest code that reached the holder; with `after`, one that came after so many others. */
export function codeFor(
  sandbox: Pick<SandboxControl, "messages">,
  intent: string,
  after = 0,
): Promise<string> {
  return eventually(`a code for ${intent}`, async () => {
    const messages = await sandbox.messages(intent);
    return messages.length > after && messages.at(-1)?.otp;
  });
}

/** Another code than this one. */
export function wrongCode(code: string): string {
  return code === "000000" ? "000001" : "000000";
}

/** The provider's answer to the enrolment is lost. */
export const lostEnrolment: Stopped = {
  command: "issue-certificate",
  example: "holder.json",
  stopped: ({ disposableHolder, ...rest }, identificationCode) => ({
    ...rest,
    disposableHolder: {
      ...disposableHolder,
      firstName: "sandbox:enroll=cut-after-commit",
      identificationCode,
    },
  }),
};
