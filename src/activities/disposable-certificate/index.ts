// The activities of the disposable certificate service (P1 §2.1–2.6, 4.1; docs/reading-the-specification.md §5).
import { contentOf } from "../../documents/content.js";
import { cancellationSignal } from "@temporalio/activity";
import { IssueCertificateInput } from "../../contracts/issue-certificate.js";
import type { CertificateSettings } from "../../contracts/issue-certificate.js";
import { comparedInput } from "../../contracts/shared/compared-input.js";
import * as client from "../../providers/disposable-certificate/client.js";
import type {
  DisposableCertificateAccount,
  EidEnrolment,
  IssuedCertificate,
  OtpMessage,
} from "../../providers/disposable-certificate/client.js";
import { measured } from "../runtime/call-metrics.js";
import { enrolmentOf, messageOf } from "./enrolment.js";
import { InvalidInput } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { accountIn, Office, resolved } from "../runtime/provider-context.js";
import type { Attempt, OfficeDependencies } from "../runtime/provider-context.js";
import {
  firstCode,
  isLeftOpen,
  refusalIn,
  sentAgain,
  triedWith,
} from "../runtime/one-time-password.js";
import type { FirstCode, SentAgain, Tried } from "../runtime/one-time-password.js";

const provider = "disposable-certificate";
const authority = measured(provider, client);

export interface CertificateAccount extends DisposableCertificateAccount {
  /** Whether EMAIL codes are enabled for the LRA (P1 §2.1). */
  emailOtp: boolean;
}

export interface CertificateDependencies extends OfficeDependencies<CertificateAccount> {
  settings: CertificateSettings;
}

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

/** As the journal keeps it: a person's `happened` brings ids alone, as text or number. */
interface EnrolmentAnswer {
  certIdOtp: string | number;
  deviceCode: string | number;
  otpId?: string | number;
  enrolledAt?: string;
}

/** Codes 237 and 239: the process waits for a fresh one. */
export interface RefusedAssertion {
  refused: "expired" | "invalid";
  code: string;
}

interface Certificate {
  account: string;
  certIdOtp: number;
  deviceCode: string;
  message: OtpMessage;
}

const refusedAssertions: Record<string, RefusedAssertion["refused"]> = {
  "237": "expired",
  "239": "invalid",
};

export function createCertificateActivities(dependencies: CertificateDependencies) {
  const office = new Office<typeof provider, CertificateAccount, CertificateDependencies>(
    provider,
    dependencies,
  );

  return {
    /** Validates the input, and the rule that needs the account's configuration. */
    prepare({ input, mode }: { input: unknown; mode: AttemptMode }): Promise<CertificatePlan> {
      return office.run("prepare", accountIn(input), mode, async ({ name, emailOtp }) => {
        const parsed = office.parse(IssueCertificateInput, input);
        const { environment, settings } = office.has;
        if (!emailOtp && messageOf(parsed).emailOptions !== undefined) {
          const problem = `EMAIL codes are not enabled for the LRA of account "${name}" (P1 §2.1)`;
          throw new InvalidInput([{ path: "disposableCertificate.otpType", problem }]);
        }
        const { standing, refused } = await office.past("enroll");
        return {
          environment,
          account: name,
          settings: resolved(settings, parsed.settings),
          message: messageOf(parsed),
          refusedEnrolments: refused,
          ...(standing && { enrolment: standing.occurrence }),
        };
      });
    },

    /** Null where the provider has nothing against the data. */
    checkData(given: {
      input: unknown;
      assertion: string | undefined;
      mode: AttemptMode;
    }): Promise<RefusedAssertion | null> {
      const { input, assertion, mode } = given;
      return office.run("checkData", accountIn(input), mode, async (account) => {
        const enrolment = enrolmentOf(office.parse(IssueCertificateInput, input), fresh(assertion));
        const signal = cancellationSignal();
        try {
          if ("data" in enrolment) {
            const { data } = enrolment;
            await office.reach(account, "checkData", () =>
              authority.checkData(account, data, signal),
            );
          } else {
            const { eid } = enrolment;
            await office.reach(forType(account, eid), "checkDataWitheIDAssertion", () =>
              authority.checkDataWitheIDAssertion(account, eid, signal),
            );
          }
          return null;
        } catch (error) {
          return refusedAssertionIn(error);
        }
      });
    },

    enroll(
      given: Attempt & { input: unknown; assertion: string | undefined },
    ): Promise<Enrolled | RefusedAssertion> {
      const { effect, mode } = given;
      return office.run("enroll", accountIn(given.input), mode, async (account) => {
        const input = office.parse(IssueCertificateInput, given.input);
        const enrolment = enrolmentOf(input, fresh(given.assertion));
        const operation = "data" in enrolment ? "enroll" : "enrollDisposableWitheIDAssertion";
        try {
          const answer = await office.perform<EnrolmentAnswer>(
            "eid" in enrolment ? forType(account, enrolment.eid) : account,
            { reference: effect, operation, input: enrolled(input), mode },
            {
              async send({ signal }) {
                const issued =
                  "data" in enrolment
                    ? await authority.enroll(account, enrolment.data, signal)
                    : await authority.enrollDisposableWitheIDAssertion(
                        account,
                        enrolment.eid,
                        signal,
                      );
                return { ...issued, enrolledAt: new Date().toISOString() };
              },
            },
          );
          const { certIdOtp, deviceCode, otpId, enrolledAt = new Date().toISOString() } = answer;
          return {
            certIdOtp: Number(certIdOtp),
            deviceCode: office.sealSecret(office.openSecret(String(deviceCode))),
            ...(otpId === undefined ? {} : { otpId: String(otpId) }),
            enrolledAt,
          };
        } catch (error) {
          return refusedAssertionIn(error);
        }
      });
    },

    sendOtp(given: Attempt & Certificate): Promise<FirstCode> {
      const { effect, mode } = given;
      return office.run("sendOtp", given.account, mode, async (account) => {
        const sending = office.perform(account, ofCode(effect, mode, given), {
          send: ({ signal }) => sendTo(account, given, signal),
        });
        return firstCode(office, { send: "sendOtp", try: "validate" }, sending, mode);
      });
    },

    /** The own call of the update `resendOtp`. */
    resendOtp({ effect, ...given }: Pick<Attempt, "effect"> & Certificate): Promise<SentAgain> {
      return office.run("sendOtp", given.account, "quick", (account) =>
        sentAgain(
          office,
          "sendOtp",
          office.effect(account, ofCode(effect, "quick", given), {
            send: ({ signal }) => sendTo(account, given, signal),
          }),
        ),
      );
    },

    /** The own call of the update `submitOtp`; with `watch`, only whether its answer has become known. */
    validate(given: Attempt & Certificate & { otp: string }): Promise<Tried> {
      const { effect, mode, certIdOtp } = given;
      return office.run("validate", given.account, mode, async (account) => {
        try {
          await office.effect(
            account,
            { reference: effect, operation: "validate", input: { certIdOtp }, mode },
            {
              send: async ({ signal }) => {
                const deviceCode = office.openSecret(given.deviceCode);
                const otp = office.openCode(given.otp);
                await authority.validate(account, { certIdOtp, deviceCode, otp }, signal);
                return {};
              },
            },
          );
          return { verdict: "accepted" };
        } catch (error) {
          if (mode === "watch" && isLeftOpen(error)) throw error;
          const wrong = account.wrongOtpCodes.map(String);
          return triedWith(error, ({ code = "" }) => (wrong.includes(code) ? "wrong" : undefined));
        }
      });
    },
  };

  /** The message is no part of it: a new run may have another one. */
  function ofCode(reference: Attempt["effect"], mode: AttemptMode, { certIdOtp }: Certificate) {
    return { reference, operation: "sendOtp", input: { certIdOtp }, mode } as const;
  }

  function fresh(assertion: string | undefined): string | undefined {
    return assertion === undefined ? undefined : office.openSecret(assertion);
  }

  async function sendTo(
    account: CertificateAccount,
    { certIdOtp, message, ...sealed }: Certificate,
    signal: AbortSignal,
  ): Promise<object> {
    const deviceCode = office.openSecret(sealed.deviceCode);
    await authority.sendOtp(account, { certIdOtp, deviceCode, ...message }, signal);
    return {};
  }
}

/** 244 is about the eID type: those that the LRA may use are not held up by it (P1 §7.1; docs/reading-the-specification.md §9). */
function forType<A extends object>(account: A, { eidAssertionHolder }: EidEnrolment): A {
  return { ...account, about: eidAssertionHolder?.eIDType ?? "" };
}

/** What is enrolled; not how its code is sent, which a new run may do otherwise. */
function enrolled(input: IssueCertificateInput): object {
  const own = new Set(["settings", "smsOptions", "emailOptions"]);
  const entries = Object.entries(comparedInput(IssueCertificateInput, input, contentOf));
  return Object.fromEntries(entries.filter(([key]) => !own.has(key)));
}

export type CertificateActivities = ReturnType<typeof createCertificateActivities>;

function refusedAssertionIn(error: unknown): RefusedAssertion {
  const code = refusalIn(error)?.code ?? "";
  const refused = refusedAssertions[code];
  if (refused === undefined) throw error;
  return { refused, code };
}
