// The enrolment of a holder: planned, checked, sent (P1 §2.1–2.3, 4.1; docs/reading-the-specification.md §5).
import { contentOf } from "../../documents/content.js";
import { IssueCertificateInput } from "../../contracts/issue-certificate/contract.js";
import type { CertificateSettings } from "../../contracts/issue-certificate/contract.js";
import { comparedInput } from "../../contracts/definition/compared-input.js";
import * as authority from "../../providers/disposable-certificate/client.js";
import type {
  IssuedCertificate,
  OtpMessage,
} from "../../providers/disposable-certificate/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { InvalidInput } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { refusalIn } from "../runtime/one-time-password.js";
import { resolved } from "../runtime/provider-context.js";
import type { CertificateContext } from "./context.js";
import { enrolmentOf, messageOf } from "./enrolment.js";
import type { Enrolment } from "./enrolment.js";

/** What the process does, fixed for the run. */
export interface CertificatePlan {
  environment: string;
  account: string;
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
  otpId?: string | number;
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
  given: { input: unknown; mode: AttemptMode },
): Promise<CertificatePlan> {
  const { account, deps } = context;
  const input = context.parse(IssueCertificateInput, given.input);
  const message = messageOf(input);
  if (!account.emailOtp && message.emailOptions !== undefined) {
    const problem = `EMAIL codes are not enabled for the LRA of account "${account.name}" (P1 §2.1)`;
    throw new InvalidInput([{ path: "disposableCertificate.otpType", problem }]);
  }
  const { standing, refused } = await context.readStepHistory("enroll");
  return {
    environment: deps.environment,
    account: account.name,
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
    if ("data" in enrolment)
      await context.throughCircuit("checkData", (signal) =>
        authority.checkData(account, enrolment.data, signal),
      );
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

/** What is enrolled; not how its code is sent, which may differ in a new run. */
function enrolled(input: IssueCertificateInput): object {
  const own = new Set(["settings", "smsOptions", "emailOptions"]);
  const entries = Object.entries(comparedInput(IssueCertificateInput, input, contentOf));
  return Object.fromEntries(entries.filter(([key]) => !own.has(key)));
}

function refusedAssertionIn(error: unknown): RefusedAssertion {
  const code = refusalIn(error)?.code ?? "";
  const refused = refusedAssertions[code];
  if (refused === undefined) throw error;
  return { refused, code };
}
