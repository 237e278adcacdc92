// The account that the tests of the certificate client use, and one call of each operation. Over plain HTTP, but for those
// about mutual TLS.
import { createSecureContext } from "node:tls";
import * as client from "../../../src/providers/disposable-certificate/client.js";
import type {
  DisposableCertificateAccount,
  EidEnrolment,
  Enrolment,
} from "../../../src/providers/disposable-certificate/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { defaultAccount } from "../default-account.js";
import type { Handler } from "../provider-server.js";

export const WRONG_OTP = 250;

const noCertificate = createSecureContext();

export function accountAt(
  baseUrl: string,
  changes: Partial<DisposableCertificateAccount> = {},
): DisposableCertificateAccount {
  return {
    ...defaultAccount("disposable-certificate", {
      baseUrl: "https://localhost",
      username: "trustflow",
      password: "a password",
      lraId: "lra-1",
      wrongOtpCodes: String(WRONG_OTP),
      pkcs12File: "none.p12",
    }),
    baseUrl,
    tls: { identity: () => noCertificate },
    ...changes,
  };
}

export const enrolment: Enrolment = {
  disposableHolder: { firstName: "Ada", lastName: "Rossi", birthDate: "1985-12-01" },
  disposableDoc: { documentType: "CI", documentIssuerCountry: "IT" },
  disposableCertificate: {
    password: "holder chosen 1",
    securityCode: "holder chosen 2",
    type: "DISPOSABLE",
    otpType: "SMS",
  },
  disposableContacts: { mobile: "+393331234567" },
};

export const eidEnrolment: EidEnrolment = {
  eidAssertionHolder: { country: "IT", eIDType: "EIDVENDOR", assertion: "YXNzZXJ0aW9u" },
  contacts: { mobile: "+393331234567" },
  certificate: {
    fullData: false,
    otpType: "SMS",
    password: "holder chosen 1",
    securityCode: "holder chosen 2",
    type: "DISPOSABLE",
  },
};

export const issued = { certIdOtp: 12_345, deviceCode: "device-code" };
export const otp = "482913";

/** As P1 §4.1 describes it: most operations have no body. */
export const describedAnswer: Handler = ({ path }, response) =>
  void response.end(path.includes("/enroll") ? JSON.stringify(issued) : "");

export const calls: Record<
  Operation<"disposable-certificate">,
  (account: DisposableCertificateAccount) => Promise<unknown>
> = {
  checkData: (account) => client.checkData(account, enrolment),
  checkDataWitheIDAssertion: (account) => client.checkDataWitheIDAssertion(account, eidEnrolment),
  enroll: (account) => client.enroll(account, enrolment),
  enrollDisposableWitheIDAssertion: (account) =>
    client.enrollDisposableWitheIDAssertion(account, eidEnrolment),
  sendOtp: (account) =>
    client.sendOtp(account, { ...issued, smsOptions: { textSMS: "Your code: $OTP$" } }),
  validate: (account) => client.validate(account, { ...issued, otp }),
};

export const operations = Object.keys(calls) as (keyof typeof calls)[];
