// Enrolls a holder, sends the codes and validates them (P1 §2.1–2.6, 4.1; docs/reading-the-specification.md §5).
import * as authority from "../../providers/disposable-certificate/client.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { IssueCertificateInput } from "../../contracts/issue-certificate/contract.js";
import type {
  CertificateFromAssertion,
  CertificateFromData,
  CertificateSettings,
} from "../../contracts/issue-certificate/contract.js";
import { contentOf } from "../../documents/content.js";
import type {
  EidEnrolment,
  Enrolment as DataEnrolment,
  IssuedCertificate,
  OtpMessage,
} from "../../providers/disposable-certificate/client.js";
import { activitiesOf } from "../runtime/activity.js";
import type { InputCall, StepCall, UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { EffectKey } from "../runtime/effect.js";
import type { AttemptMode } from "../runtime/failure.js";
import {
  firstCode,
  isUnanswered,
  refusalIn,
  resendResultOf,
  tryResultOf,
} from "../runtime/one-time-password.js";
import type { FirstCode, OtpResult, SentAgain } from "../runtime/one-time-password.js";
import { NotAllowed, ProviderContext, resolved } from "../runtime/provider-context.js";
import type { ProviderDependencies, Place } from "../runtime/provider-context.js";

export const provider = "disposable-certificate";

type CertificateContext = ProviderContext<typeof provider>;

export type Enrolment = { data: DataEnrolment } | { eid: EidEnrolment };

const disposable = "DISPOSABLE";

/** `assertion` is the fresh one, where the input's was refused. */
export function enrolmentOf(input: IssueCertificateInput, assertion?: string): Enrolment {
  return isFromData(input) ? { data: fromData(input) } : { eid: fromAssertion(input, assertion) };
}

export function messageOf(input: IssueCertificateInput): OtpMessage {
  if (!isFromData(input) || input.smsOptions) return { smsOptions: input.smsOptions };
  return { emailOptions: input.emailOptions };
}

function isFromData(input: IssueCertificateInput): input is CertificateFromData {
  return "disposableHolder" in input;
}

function fromData(input: CertificateFromData): DataEnrolment {
  const { account: _, settings: __, smsOptions: ___, emailOptions: ____, ...enrolment } = input;
  const { disposableCertificate } = enrolment;
  return { ...enrolment, disposableCertificate: { type: disposable, ...disposableCertificate } };
}

function fromAssertion(
  { eidAssertionHolder, contacts, certificate }: CertificateFromAssertion,
  assertion = eidAssertionHolder.assertion,
): EidEnrolment {
  return {
    eidAssertionHolder: { ...eidAssertionHolder, assertion },
    contacts,
    certificate: { type: disposable, ...certificate },
  };
}

/** It is fixed for the run. */
export interface CertificatePlan extends Place {
  settings: CertificateSettings;
  message: OtpMessage;
  /** The occurrence of an enrolment that an earlier run of the process has made or left open. */
  enrolment?: string;
  /** How many were refused. */
  refusedEnrolments?: number;
}

export interface Enrolled extends IssuedCertificate {
  enrolledAt: string;
}

/** As the journal keeps it: an operator's `happened` supplies ids alone, as text or number. */
interface EnrolmentAnswer {
  certIdOtp: string | number;
  deviceCode: string | number;
  otpId?: string | number | undefined;
  enrolledAt?: string;
}

/** Codes 237 and 239: the process waits for a fresh assertion. */
export interface RefusedAssertion {
  refused: "expired" | "invalid";
  code: string;
}

const refusedAssertions: Record<string, RefusedAssertion["refused"]> = {
  "237": "expired",
  "239": "invalid",
};

export interface Holder {
  input: unknown;
  /** The fresh assertion, where the input's was refused. */
  assertion: string | undefined;
}

/** Validates the input, and checks the rule that needs the account's configuration. */
export async function prepare(
  context: CertificateContext,
  given: InputCall,
): Promise<CertificatePlan> {
  const { account, deps } = context;
  const input = context.parse(IssueCertificateInput, given.input);
  const message = messageOf(input);
  if (!account.emailOtp && message.emailOptions !== undefined) {
    const problem = `EMAIL codes are not enabled for the LRA of account "${account.name}" (P1 §2.1)`;
    throw new NotAllowed([{ path: "disposableCertificate.otpType", problem }]);
  }
  const { standing, refused } = await context.readStepHistory("enroll");
  return {
    ...context.place,
    settings: resolved(deps.defaults.issueCertificate, input.settings),
    message,
    refusedEnrolments: refused,
    ...(standing && { enrolment: standing.occurrence }),
  };
}

/** Null where the provider accepts the data. */
export async function checkData(
  context: CertificateContext,
  given: Holder & { mode: AttemptMode },
): Promise<RefusedAssertion | null> {
  const { account } = context;
  const { enrolment } = holderOf(context, given);
  try {
    if ("data" in enrolment) await context.ask("checkData", authority.checkData, enrolment.data);
    else
      await context.throughCircuit(
        "checkDataWitheIDAssertion",
        (signal) => authority.checkDataWitheIDAssertion(account, enrolment.eid, signal),
        eidTypeOf(enrolment),
      );
    return null;
  } catch (error) {
    return refusedAssertionIn(error);
  }
}

export async function enroll(
  context: CertificateContext,
  { effect, ...given }: StepCall & Holder,
): Promise<Enrolled | RefusedAssertion> {
  const { account } = context;
  const { input, enrolment } = holderOf(context, given);
  try {
    const answer = await runEffect(context, effect, {
      operation: "data" in enrolment ? "enroll" : "enrollDisposableWitheIDAssertion",
      input: enrolled(input),
      about: eidTypeOf(enrolment),
      async send({ signal }): Promise<EnrolmentAnswer> {
        const issued =
          "data" in enrolment
            ? await authority.enroll(account, enrolment.data, signal)
            : await authority.enrollDisposableWitheIDAssertion(account, enrolment.eid, signal);
        return { ...issued, enrolledAt: new Date().toISOString() };
      },
    });
    const { certIdOtp, deviceCode, otpId, enrolledAt = new Date().toISOString() } = answer;
    return {
      certIdOtp: Number(certIdOtp),
      deviceCode: context.sealSecret(context.openSecret(String(deviceCode))),
      ...(otpId === undefined ? {} : { otpId: String(otpId) }),
      enrolledAt,
    };
  } catch (error) {
    return refusedAssertionIn(error);
  }
}

function holderOf(context: CertificateContext, given: Holder) {
  const input = context.parse(IssueCertificateInput, given.input);
  const fresh = given.assertion === undefined ? undefined : context.openSecret(given.assertion);
  return { input, enrolment: enrolmentOf(input, fresh) };
}

/**
 * A denial with code 244 is about the eID type: it must not stop types that the LRA may use (P1 §7.1;
 * docs/reading-the-specification.md §9).
 */
function eidTypeOf(enrolment: Enrolment): string | undefined {
  return "eid" in enrolment ? (enrolment.eid.eidAssertionHolder?.eIDType ?? "") : undefined;
}

/** Leaves out how the code is sent, which may differ in a new run. */
function enrolled(input: IssueCertificateInput): object {
  const ours = new Set(["settings", "smsOptions", "emailOptions"]);
  const entries = Object.entries(comparedInput(IssueCertificateInput, input, contentOf));
  return Object.fromEntries(entries.filter(([key]) => !ours.has(key)));
}

function refusedAssertionIn(error: unknown): RefusedAssertion {
  const code = refusalIn(error)?.code ?? "";
  const refused = refusedAssertions[code];
  if (refused === undefined) throw error;
  return { refused, code };
}

export interface Certificate {
  account: string;
  certIdOtp: number;
  deviceCode: string;
  message: OtpMessage;
}

export function sendOtp(
  context: CertificateContext,
  { effect, ...given }: StepCall & Certificate,
): Promise<FirstCode> {
  const sending = sendCode(context, effect, given, "step");
  return firstCode(context, { send: "sendOtp", try: "validate" }, sending, context.mode);
}

export function resendOtp(
  context: CertificateContext,
  { effect, ...given }: UpdateCall & Certificate,
): Promise<SentAgain> {
  const sending = sendCode(context, effect, given, "update");
  return resendResultOf(context, "sendOtp", sending);
}

/** The digest leaves out the message: a new run may send its code by another one. */
function sendCode(
  context: CertificateContext,
  effect: EffectKey,
  { certIdOtp, message, ...sealed }: Certificate,
  of: "step" | "update",
): Promise<unknown> {
  return runEffect(context, effect, {
    of,
    operation: "sendOtp",
    input: { certIdOtp },
    prepare: () => context.openSecret(sealed.deviceCode),
    send: ({ prepared: deviceCode, signal }) =>
      authority.sendOtp(context.account, { certIdOtp, deviceCode, ...message }, signal),
  });
}

/** Answers the update `submitOtp`; with `watch`, it only looks whether an answer has become known. */
export async function validate(
  context: CertificateContext,
  { effect, certIdOtp, ...sealed }: StepCall & Certificate & { otp: string },
): Promise<OtpResult> {
  const { account, mode } = context;
  // The answer to an earlier code may have come since, also after a person gave the holder another chance.
  const { standing } = await context.readStepHistory(effect.step);
  if (standing?.isAnswered) return { verdict: "accepted" };
  try {
    await runEffect(context, effect, {
      of: "update",
      operation: "validate",
      input: { certIdOtp },
      prepare: () => ({
        deviceCode: context.openSecret(sealed.deviceCode),
        otp: context.openCode(sealed.otp),
      }),
      send: ({ prepared: codes, signal }) =>
        authority.validate(account, { certIdOtp, ...codes }, signal),
    });
    return { verdict: "accepted" };
  } catch (error) {
    if (mode === "watch" && isUnanswered(error)) throw error;
    const wrong = account.wrongOtpCodes.map(String);
    return tryResultOf(error, ({ code = "" }) => (wrong.includes(code) ? "wrong" : undefined));
  }
}

export function createCertificateActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, ProviderContext);
  return {
    prepare: activity("prepare", prepare),
    checkData: activity("checkData", checkData),
    enroll: activity("enroll", enroll),
    sendOtp: activity("sendOtp", sendOtp),
    resendOtp: activity("sendOtp", resendOtp),
    validate: activity("validate", validate),
  };
}
