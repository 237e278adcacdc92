// A disposable certificate, from the holder's data or an eID assertion to the validated one-time password (P1 §1.1, 2.1–2.6,
// 4.1; docs/reading-the-specification.md §5).
import { ApplicationFailure } from "@temporalio/workflow";
import type {
  CertificatePlan,
  Enrolled,
  RefusedAssertion,
} from "../../activities/disposable-certificate/index.js";
import type { FirstCode } from "../../activities/runtime/one-time-password.js";
import type { FailureDetails } from "../../contracts/shared/failures.js";
import type {
  IssueCertificateInput,
  IssueCertificateResult,
} from "../../contracts/issue-certificate/contract.js";
import { updateProxy } from "../runtime/activity-options.js";
import { AssertionDialogue } from "./assertion.js";
import { wanted } from "../runtime/attention.js";
import { now } from "../runtime/clock.js";
import { OneTimePassword } from "../shared/one-time-password.js";
import type { OtpCalls } from "../shared/one-time-password.js";
import { plainView } from "../runtime/event-log.js";
import { Flow, run } from "../runtime/flow.js";
import { effectStep, queryStep, stepsOf } from "../runtime/steps.js";

const provider = "disposable-certificate";

export async function issueCertificate(
  input: IssueCertificateInput,
): Promise<IssueCertificateResult> {
  return run(new IssueCertificate(input));
}

class IssueCertificate {
  readonly #input: IssueCertificateInput;
  readonly flow = new Flow(plainView);
  readonly #step = stepsOf(this.flow, provider);
  readonly #assertions = new AssertionDialogue(this.flow);
  readonly #otp: OneTimePassword;
  #plan: CertificatePlan | undefined;
  #enrolled: Enrolled | undefined;
  #validatedAt: string | undefined;

  constructor(input: IssueCertificateInput) {
    this.#input = input;
    this.#otp = new OneTimePassword(this.flow, this.#codeCalls());
    this.flow.lifecycle.askBeforeCancelling("enroll");
  }

  async main(): Promise<void> {
    const { status } = this.flow;
    const plan = await this.#prepare();
    this.#plan = plan;
    status.identify(plan);
    this.#certificateEnrolled(await this.#enroll(plan));
    this.#otp.begin(plan.settings, await this.#sendCode());
    if (!(await this.#otp.isAccepted())) return;
    this.#validatedAt = now().toISOString();
    status.ownOutcome = "issued";
  }

  #prepare(): Promise<CertificatePlan> {
    return this.#step(queryStep("prepare", "Check the input"), (service, { mode }) =>
      service.prepare({ input: this.#input, mode }),
    );
  }

  /** Checks the data and enrols. If the provider refuses the assertion, it waits for a new one and repeats both. */
  async #enroll(plan: CertificatePlan): Promise<Enrolled> {
    const { settings } = plan;
    // An enrolment of an earlier run needs no check, because its assertion would no longer pass.
    let { enrolment, refusedEnrolments: refused = 0 } = plan;
    for (;;) {
      const { assertion } = this.#assertions;
      const isDue = settings.checkData && enrolment === undefined;
      const checked = isDue ? await this.#checkData(assertion) : undefined;
      // Only a refused enrolment is followed by another one.
      const occurrence = enrolment ?? (refused === 0 ? "0" : `assertion-${refused}`);
      const answer = checked ?? (await this.#tryToEnroll(assertion, occurrence));
      if ("certIdOtp" in answer) return answer;
      enrolment = undefined;
      if (!checked) refused += 1;
      if (!(await this.#assertions.another(answer, settings))) throw this.#refused(plan, answer);
    }
  }

  #checkData(assertion: string | undefined): Promise<RefusedAssertion | null> {
    return this.#step(queryStep("checkData", "Check the holder's data"), (service, { mode }) =>
      service.checkData({ input: this.#input, assertion, mode }),
    );
  }

  #tryToEnroll(
    assertion: string | undefined,
    occurrence: string,
  ): Promise<Enrolled | RefusedAssertion> {
    const step = effectStep("enroll", "Enroll the certificate", {
      happened: {
        certIdOtp: wanted.wholeNumber,
        deviceCode: wanted.token,
        otpId: wanted.optional(wanted.reference),
      },
      lookFor: () => holderOf(this.#input),
      occurrence,
    });
    return this.#step(step, (service, call) =>
      service.enroll({ ...call, input: this.#input, assertion }),
    );
  }

  /** The failure of a process that gets no valid assertion. */
  #refused({ environment, account }: CertificatePlan, { code, refused }: RefusedAssertion): Error {
    const details: FailureDetails["NotAccepted"] = {
      provider,
      code,
      fields: [{ path: "eidAssertionHolder.assertion", problem: `is ${refused}` }],
    };
    this.flow.status.identify({ environment, account });
    return ApplicationFailure.nonRetryable(
      `${provider} did not accept it: the assertion is ${refused}`,
      "NotAccepted",
      details,
    );
  }

  #certificateEnrolled(enrolled: Enrolled): void {
    const { log, status } = this.flow;
    this.#enrolled = enrolled;
    log.note("Certificate enrolled");
    status.waitFor("the provider to send the code");
    status.effectExists("waiting", {
      certIdOtp: String(enrolled.certIdOtp),
      ...(enrolled.otpId === undefined ? {} : { otpId: enrolled.otpId }),
    });
  }

  #sendCode(): Promise<FirstCode> {
    return this.#step(effectStep("sendOtp", "Send the holder a code"), (service, call) =>
      service.sendOtp({ ...this.#certificate(), ...call }),
    );
  }

  result(): IssueCertificateResult {
    return {
      ...this.flow.result("issueCertificate"),
      outcome: this.flow.status.ownOutcome as IssueCertificateResult["outcome"],
      dates: {
        enrolledAt: this.#enrolled?.enrolledAt,
        validatedAt: this.#validatedAt,
      },
      otpsSent: this.#otp.sent,
    };
  }

  /** The data of the enrolled certificate that later calls need. */
  #certificate() {
    if (!this.#plan || !this.#enrolled) throw ApplicationFailure.nonRetryable("not enrolled yet");
    const { account, message } = this.#plan;
    const { certIdOtp, deviceCode } = this.#enrolled;
    return { account, certIdOtp, deviceCode, message };
  }

  #codeCalls(): OtpCalls {
    return {
      provider,
      operation: "validate",
      send: (occurrence, seconds) =>
        updateProxy(provider, "Send the holder another code", seconds).resendOtp({
          ...this.#certificate(),
          effect: { step: "sendOtp", occurrence },
        }),
      try: (otp, occurrence, seconds) =>
        updateProxy(provider, "Validate the code that the holder entered", seconds).validate({
          ...this.#certificate(),
          effect: { step: "validate", occurrence },
          mode: "quick",
          otp,
        }),
      decideOpen: (open) =>
        this.#step(
          effectStep("validate", "Wait for the answer to the last code"),
          async (service, { effect, mode }) =>
            mode === "probe"
              ? { verdict: "again" }
              : service.validate({ ...this.#certificate(), effect, mode, otp: "" }),
          open,
        ),
    };
  }
}

/** Who gets the certificate, and where the code goes. With an eID assertion the name is in it, and it is a secret. */
function holderOf(input: IssueCertificateInput): Record<string, string | undefined> {
  if ("eidAssertionHolder" in input) return { mobile: input.contacts.mobile };
  const { firstName, lastName } = input.disposableHolder;
  const { mobile, email } = input.disposableContacts;
  const names = [firstName, lastName].filter((name) => name !== undefined);
  return { holder: names.length > 0 ? names.join(" ") : undefined, mobile, email };
}
