// The disposable certificate service: one function per endpoint, one HTTP call each. HTTP Basic and a client certificate on
// every request (P1 §5.1).
//
// | operation                        | method and path                                                 | §                | function                         | effect class |
// |----------------------------------|-----------------------------------------------------------------|------------------|----------------------------------|--------------|
// | checkData                        | POST /api/certificate/{lraId}/checkData                         | P1 §2.1, 4.1     | checkData                        | read         |
// | checkDataWitheIDAssertion        | POST /api/certificate/{lraId}/checkDataWitheIDAssertion         | P1 §2.2, 4.1     | checkDataWitheIDAssertion        | read         |
// | enroll                           | POST /api/certificate/{lraId}/enroll                            | P1 §2.1, 2.5     | enroll                           | once         |
// | enrollDisposableWitheIDAssertion | POST /api/certificate/{lraId}/enrollDisposableWitheIDAssertion  | P1 §2.2, 2.5     | enrollDisposableWitheIDAssertion | once         |
// | sendOtp                          | POST /api/certificate/sendOtp                                   | P1 §2.3, 4.1     | sendOtp                          | once         |
// | validateCertificate              | POST /api/certificate/validate (body assumed)                   | P1 §2.4, 4.1     | validate                         | once         |
//
// Out of scope: the Document operations (disposable contracts, documents of an issued certificate), the Utility operations
// (service status, error information) and "any Certificate operation after the eID enrollment" (P1 §1.1, §4.1): neither
// their paths nor their shapes are shown, and no process needs them.
//
// Every function throws ProviderError only: what each answer means stands in translate.ts, what a failed connection means in
// ../http/exchange.ts, a refused client certificate in ../http/mutual-tls.ts.
import { shownValue } from "../http/answer.js";
import { empty, json as jsonBody, jsonOrEmpty } from "../http/described.js";
import type { DisposableCertificateAccount } from "./account.js";
import {
  IssuedAnswer,
  OpenAnswer,
  eidEnrolmentFields,
  enrolmentFields,
  specifiedMembers,
  paths,
} from "./wire.js";
import type { EidEnrolment, Enrolment, OtpMessage } from "./wire.js";
import { call as callHost } from "../http/call.js";
import type { Answered } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { CertificateOperation } from "./effects.js";
import { operationOf, refusal } from "./translate.js";

export type { DisposableCertificateAccount } from "./account.js";
export type { EidEnrolment, Enrolment, OtpMessage } from "./wire.js";

/** P1 §2.5. */
export interface IssuedCertificate {
  certIdOtp: number;
  /** A secret like the OTP: a person who has both can validate. */
  deviceCode: string;
  /** Only the eID variant has it. */
  otpId?: string | undefined;
}

/**
 * P1 §2.1, §4.1: a 200 says that the data are good; its body is not shown. 242 `invalidRequest` with the field; 237, 239 and any other code
 * `invalidRequest`; 244, 11002 `accessDenied` about the operation; a 500 without a code and no answer `unavailable`.
 */
export async function checkData(
  account: DisposableCertificateAccount,
  enrolment: Enrolment,
  signal?: AbortSignal,
): Promise<void> {
  await call(account, "checkData", ...fromData(enrolment, signal), jsonOrEmpty(OpenAnswer));
}

/** P1 §2.2, §4.1: as `checkData`, but 200 has an empty body; and whether the LRA may use the eID type (244). */
export async function checkDataWitheIDAssertion(
  account: DisposableCertificateAccount,
  enrolment: EidEnrolment,
  signal?: AbortSignal,
): Promise<void> {
  await call(account, "checkDataWitheIDAssertion", ...fromAssertion(enrolment, signal), empty);
}

/**
 * P1 §2.1, §2.5, §4.1. The codes of `checkData` prove that nothing was issued; another code, a 500 without one, a broken 200
 * and no answer are `unknownOutcome`: there is no look-up.
 */
export async function enroll(
  account: DisposableCertificateAccount,
  enrolment: Enrolment,
  signal?: AbortSignal,
): Promise<IssuedCertificate> {
  const [json, given] = fromData(enrolment, signal);
  return (await call(account, "enroll", json, given, issued(account))).value;
}

/** P1 §2.2, §2.5, §4.1: as `enroll`. */
export async function enrollDisposableWitheIDAssertion(
  account: DisposableCertificateAccount,
  enrolment: EidEnrolment,
  signal?: AbortSignal,
): Promise<IssuedCertificate> {
  const operation = "enrollDisposableWitheIDAssertion";
  const [json, given] = fromAssertion(enrolment, signal);
  return (await call(account, operation, json, given, issued(account))).value;
}

/**
 * P1 §2.3, §4.1 rule 2: 200 with an empty body. 242, 62, 249, 99 `protocol`: what enroll gave, or the options, are wrong; 11002
 * `accessDenied` about the operation; anything else `unknownOutcome`: the holder may have the code.
 */
export async function sendOtp(
  account: DisposableCertificateAccount,
  given: { certIdOtp: number; deviceCode: string } & OtpMessage,
  signal?: AbortSignal,
): Promise<void> {
  const { certIdOtp, deviceCode, smsOptions, emailOptions } = given;
  const json = { certIdOtp, deviceCode, smsOptions, emailOptions };
  await call(account, "sendOtp", json, { secrets: [deviceCode], signal }, empty);
}

/**
 * P1 §2.4, §4.1 rule 3; the body is assumed, that of a 200 is not shown. A code of `wrongOtpCodes` `invalidRequest`:
 * the OTP is wrong; 242, 62, 249 `protocol`; 11002 `accessDenied` about the operation; anything else `unknownOutcome`,
 * with the code.
 */
export async function validate(
  account: DisposableCertificateAccount,
  { certIdOtp, deviceCode, otp }: { certIdOtp: number; deviceCode: string; otp: string },
  signal?: AbortSignal,
): Promise<void> {
  const names = account.validation;
  const json = {
    [names.certIdOtp]: certIdOtp,
    [names.deviceCode]: deviceCode,
    [names.otp]: otp,
  };
  const given = { secrets: [deviceCode, otp], signal };
  await call(account, "validate", json, given, jsonOrEmpty(OpenAnswer));
}

function fromData(enrolment: Enrolment, signal: AbortSignal | undefined) {
  const { password = "", securityCode = "" } = enrolment.disposableCertificate ?? {};
  const secrets = [password, securityCode];
  return [specifiedMembers(enrolmentFields, enrolment), { secrets, signal }] as const;
}

function fromAssertion(enrolment: EidEnrolment, signal: AbortSignal | undefined) {
  const { password = "", securityCode = "" } = enrolment.certificate ?? {};
  const secrets = [password, securityCode, enrolment.eidAssertionHolder?.assertion ?? ""];
  return [specifiedMembers(eidEnrolmentFields, enrolment), { secrets, signal }] as const;
}

/**
 * If an enrollment was answered, but not readably, the error shows a `certIdOtp` and nothing else (docs/reading-the-specification.md §8).
 */
const issued = (spelling: DisposableCertificateAccount) =>
  jsonBody(IssuedAnswer, {
    isSecret: true,
    reference: (answer) => shownValue(answer, "certIdOtp"),
    spelling,
  });

/** One HTTP call with both credentials; throws for what is no described answer. `secrets`: what `json` carries in secret. */
export async function call<T>(
  account: DisposableCertificateAccount,
  operation: CertificateOperation,
  json: object,
  { secrets, signal }: { secrets: readonly string[]; signal: AbortSignal | undefined },
  described: Described<T>,
): Promise<Answered<T>> {
  const path = paths[operation].replace("{lraId}", () => encodeURIComponent(account.lraId));
  const request = {
    method: "POST",
    path,
    basic: account,
    json,
    sent: { secrets },
    signal,
  } as const;
  return callHost(operationOf(operation), account, request, described, (answer) =>
    refusal(operation, answer, account),
  );
}
