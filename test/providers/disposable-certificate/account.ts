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
import type { Say } from "../default-account.js";
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

export function callsWith(
  say: Say = (text) => text,
): Record<
  Operation<"disposable-certificate">,
  (account: DisposableCertificateAccount) => Promise<unknown>
> {
  const said = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_, one: unknown) =>
      typeof one === "string" ? say(one) : one,
    );
  const [holder, eid, of] = [said(enrolment), said(eidEnrolment), said(issued)];
  const smsOptions = { textSMS: `${say("Your code:")} $OTP$` };
  return {
    checkData: (account) => client.checkData(account, holder),
    checkDataWitheIDAssertion: (account) => client.checkDataWitheIDAssertion(account, eid),
    enroll: (account) => client.enroll(account, holder),
    enrollDisposableWitheIDAssertion: (account) =>
      client.enrollDisposableWitheIDAssertion(account, eid),
    sendOtp: (account) => client.sendOtp(account, { ...of, smsOptions }),
    validate: (account) => client.validate(account, { ...of, otp: say(otp) }),
  };
}

export const calls = callsWith();
export const operations = Object.keys(calls) as (keyof typeof calls)[];
