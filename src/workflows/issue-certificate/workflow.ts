// A disposable certificate, from the holder's data or an eID assertion to the validated one-time password (P1 §1.1, 2.1–2.6,
// 4.1; docs/reading-the-specification.md §5).
import { ApplicationFailure } from "@temporalio/workflow";
import type {
  CertificateActivities,
  CertificatePlan,
  Enrolled,
  RefusedAssertion,
} from "../../activities/disposable-certificate/index.js";
import type { FailureDetails } from "../../contracts/shared/failures.js";
import type {
  IssueCertificateInput,
  IssueCertificateResult,
} from "../../contracts/issue-certificate.js";
import { ownCall } from "../runtime/activity-options.js";
import { AssertionDialogue } from "./assertion.js";
import { wanted } from "../runtime/attention.js";
import { now } from "../runtime/clock.js";
import { OneTimePassword } from "../runtime/one-time-password.js";
import { plainView } from "../runtime/plain-view.js";
import { Flow } from "../runtime/flow.js";
import { stepsOf } from "../runtime/steps.js";

const provider = "disposable-certificate";

const own = (summary: string, seconds: number) =>
  ownCall<CertificateActivities>(provider, summary, seconds);

export async function issueCertificate(
  input: IssueCertificateInput,
): Promise<IssueCertificateResult> {
  const flow = new Flow(plainView);
  const step = stepsOf<CertificateActivities>(flow, provider);
  const assertions = new AssertionDialogue(flow);
  let plan: CertificatePlan | undefined;
  let enrolled: Enrolled | undefined;
  let validatedAt: string | undefined;

  /** What the calls about the certificate say of it; they are made only once it is enrolled. */
  const about = () => {
    if (!plan || !enrolled) throw ApplicationFailure.nonRetryable("not enrolled yet");
    const { certIdOtp, deviceCode } = enrolled;
    return { account: plan.account, certIdOtp, deviceCode, message: plan.message };
  };
  const otp = new OneTimePassword(flow, {
    provider,
    operation: "validate",
    send: (occurrence, seconds) =>
      own("Send the holder another code", seconds).resendOtp({
        ...about(),
        effect: { step: "sendOtp", occurrence },
      }),
    try: (code, occurrence, seconds) =>
      own("Validate the code that the holder entered", seconds).validate({
        ...about(),
        effect: { step: "validate", occurrence },
        mode: "quick",
        otp: code,
      }),
    decideOpen: (open) =>
      step(
        {
          name: "validate",
          summary: "Watch for the answer to the last code",
          journaled: true,
          happened: {},
        },
        async (ca, { effect, mode }) =>
          mode === "probe"
            ? { verdict: "again" }
            : ca.validate({ ...about(), effect, mode, otp: "" }),
        open,
      ),
  });
  flow.lifecycle.askBeforeCancelling("enroll");

  /** Checks and enrols, again with each fresh assertion that a refused one is replaced by. */
  async function enroll(known: CertificatePlan): Promise<Enrolled> {
    const { settings, environment, account } = known;
    // What an earlier run has enrolled needs no check, which an assertion of that time would not pass any more.
    let { enrolment, refusedEnrolments: refused = 0 } = known;
    for (;;) {
      const { assertion } = assertions;
      const isDue = settings.checkData && enrolment === undefined;
      const checked = isDue
        ? await step(
            { name: "checkData", summary: "Check the holder's data", journaled: false },
            (ca, { mode }) => ca.checkData({ input, assertion, mode }),
          )
        : undefined;
      // Only a refused enrolment is followed by another one.
      const occurrence = enrolment ?? (refused === 0 ? "0" : `assertion-${refused}`);
      const answer = checked ?? (await tryToEnroll(assertion, occurrence));
      if ("certIdOtp" in answer) return answer;
      enrolment = undefined;
      if (!checked) refused += 1;
      if (!(await assertions.another(answer, settings))) {
        const details: FailureDetails["NotAccepted"] = {
          provider,
          code: answer.code,
          fields: [{ path: "eidAssertionHolder.assertion", problem: `is ${answer.refused}` }],
        };
        flow.status.identify({ environment, account });
        throw ApplicationFailure.nonRetryable(
          `${provider} did not accept it: the assertion is ${answer.refused}`,
          "NotAccepted",
          details,
        );
      }
    }
  }

  function tryToEnroll(
    assertion: string | undefined,
    occurrence: string,
  ): Promise<Enrolled | RefusedAssertion> {
    return step(
      {
        name: "enroll",
        summary: "Enroll the certificate",
        journaled: true,
        happened: {
          certIdOtp: wanted.wholeNumber,
          deviceCode: wanted.token,
          otpId: wanted.optional(wanted.reference),
        },
        occurrence,
      },
      (ca, attempt) => ca.enroll({ ...attempt, input, assertion }),
    );
  }

  const main = async () => {
    plan = await step(
      { name: "prepare", summary: "Check the input", journaled: false },
      (ca, { mode }) => ca.prepare({ input, mode }),
    );
    flow.status.identify(plan);
    enrolled = await enroll(plan);
    const references = {
      certIdOtp: String(enrolled.certIdOtp),
      ...(enrolled.otpId === undefined ? {} : { otpId: enrolled.otpId }),
    };
    flow.log.note({ source: "process", event: "Certificate enrolled" });
    flow.status.effectExists("waiting", references);
    const first = await step(
      { name: "sendOtp", summary: "Send the holder a code", journaled: true, happened: {} },
      (ca, attempt) => ca.sendOtp({ ...about(), ...attempt }),
    );
    otp.begin(plan.settings, first);
    if (!(await otp.isAccepted())) return;
    validatedAt = now().toISOString();
    flow.status.ownOutcome = "issued";
  };

  return flow.lifecycle.run(main, () => ({
    process: "issueCertificate",
    id: flow.status.id,
    outcome: flow.status.ownOutcome as IssueCertificateResult["outcome"],
    references: flow.status.references,
    dates: {
      ...(enrolled ? { enrolledAt: enrolled.enrolledAt } : {}),
      ...(validatedAt === undefined ? {} : { validatedAt }),
    },
    documents: [],
    timeline: flow.log.timeline,
    otpsSent: otp.sent,
  }));
}
