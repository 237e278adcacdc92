// temporary
import { z } from "zod";
import type { Secret } from "../../contracts/values.js";
import { jsonOf, meaningOf, read, refused } from "../answer.js";
import type { Meaning } from "../answer.js";
import { basic, call } from "../call.js";
import type { Host } from "../call.js";
import type { Operation } from "../effects.js";
import { withoutAnswer } from "../errors.js";
import type { HttpAnswer } from "../http.js";

const provider = "disposable-certificate";
type Op = Operation<typeof provider>;
export interface DisposableCertificateAccount extends Host {
  name: string;
  username: string;
  password: Secret;
  lraId: string;
  wrongOtpCodes: readonly number[];
}
export interface Enrolment {
  [key: string]: unknown;
}
export interface EidEnrolment {
  [key: string]: unknown;
}
export interface OtpMessage {
  smsOptions?: object | undefined;
  emailOptions?: object | undefined;
}
export interface IssuedCertificate {
  certIdOtp: number;
  deviceCode: string;
  otpId?: string;
}
const ErrorObject = z.looseObject({ code: z.int(), message: z.string().optional() });
function meaning(account: DisposableCertificateAccount, op: Op, code: number | undefined): Meaning {
  if (op !== "checkData" && op !== "checkDataWitheIDAssertion" && code === undefined)
    return withoutAnswer("once");
  if (code === undefined) return { kind: "unavailable", effect: "none" };
  if (code === 11002 || code === 244)
    return { kind: "accessDenied", effect: "none", denies: "operation" };
  if (op === "sendOtp")
    return [242, 62, 249, 99].includes(code)
      ? { kind: "protocol", effect: "none" }
      : withoutAnswer("once");
  if (op === "validate") {
    if (account.wrongOtpCodes.includes(code)) return { kind: "invalidRequest", effect: "none" };
    return [242, 62, 249].includes(code)
      ? { kind: "protocol", effect: "none" }
      : withoutAnswer("once");
  }
  if ([242, 237, 239].includes(code) || op.startsWith("check"))
    return { kind: "invalidRequest", effect: "none" };
  return withoutAnswer("once");
}
async function ask(
  account: DisposableCertificateAccount,
  operation: Op,
  path: string,
  json: unknown,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const asked = { provider, operation } as const;
  return call(
    asked,
    account,
    { method: "POST", path, json, headers: { authorization: basic(account) }, signal },
    (answer) => {
      const error = ErrorObject.safeParse(jsonOf(answer.body));
      const code = error.success ? error.data.code : undefined;
      const m =
        answer.status === 500 ? meaning(account, operation, code) : meaningOf(asked, answer.status);
      return refused(asked, answer, m, {
        code: code === undefined ? undefined : String(code),
        message: error.data?.message,
      });
    },
  );
}
const lra = (account: DisposableCertificateAccount, op: string) =>
  `/api/certificate/${encodeURIComponent(account.lraId)}/${op}`;
const Issued = z.looseObject({
  certIdOtp: z.int(),
  deviceCode: z.string().min(1),
  otpId: z.union([z.string(), z.number()]).nullish(),
});
async function issue(
  account: DisposableCertificateAccount,
  operation: Op,
  json: unknown,
  signal?: AbortSignal,
): Promise<IssuedCertificate> {
  const answer = await ask(account, operation, lra(account, operation), json, signal);
  const { certIdOtp, deviceCode, otpId } = read({ provider, operation }, answer, Issued);
  return {
    certIdOtp,
    deviceCode,
    ...(otpId === undefined || otpId === null ? {} : { otpId: String(otpId) }),
  };
}
export async function checkData(
  account: DisposableCertificateAccount,
  e: Enrolment,
  signal?: AbortSignal,
): Promise<void> {
  await ask(account, "checkData", lra(account, "checkData"), e, signal);
}
export async function checkDataWitheIDAssertion(
  account: DisposableCertificateAccount,
  e: EidEnrolment,
  signal?: AbortSignal,
): Promise<void> {
  await ask(
    account,
    "checkDataWitheIDAssertion",
    lra(account, "checkDataWitheIDAssertion"),
    e,
    signal,
  );
}
export const enroll = (account: DisposableCertificateAccount, e: Enrolment, signal?: AbortSignal) =>
  issue(account, "enroll", e, signal);
export const enrollDisposableWitheIDAssertion = (
  account: DisposableCertificateAccount,
  e: EidEnrolment,
  signal?: AbortSignal,
) => issue(account, "enrollDisposableWitheIDAssertion", e, signal);
export async function sendOtp(
  account: DisposableCertificateAccount,
  o: { certIdOtp: number; deviceCode: string } & OtpMessage,
  signal?: AbortSignal,
): Promise<void> {
  await ask(account, "sendOtp", "/api/certificate/sendOtp", o, signal);
}
export async function validate(
  account: DisposableCertificateAccount,
  o: { certIdOtp: number; deviceCode: string; otp: string },
  signal?: AbortSignal,
): Promise<void> {
  await ask(account, "validate", "/api/certificate/validate", o, signal);
}
