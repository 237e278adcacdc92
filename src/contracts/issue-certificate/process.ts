import { z } from "zod";
import { EidAssertion, IssueCertificateInput, IssueCertificateResult } from "./contract.js";
import type { CertificateSettings } from "./contract.js";
import { answer, notAwaited, update } from "../definition/message-contract.js";
import { otpDefaults, otpUpdates } from "../shared/one-time-password.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { provideAssertion } from "./messages.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";
export * from "./messages.js";

export const issueCertificate = defineProcess({
  title: "Disposable certificate",
  provider: "disposable-certificate",
  input: IssueCertificateInput,
  result: IssueCertificateResult,
  status: ProcessStatus,
  phases: [["submitting", "waiting", "ended"]],
  defaults: {
    checkData: true,
    ...otpDefaults,
    assertionDeadlineSeconds: { value: 7 * DAY_SECONDS, least: 1 },
    assertionTries: { value: 3, least: 1 },
  } satisfies DefaultsFor<CertificateSettings>,
  updates: {
    ...otpUpdates,
    provideAssertion: update(provideAssertion, {
      description:
        "A new eID assertion after one was refused as expired or invalid (237 and 239 of P1 §7.1).",
      argument: z.strictObject({ assertion: EidAssertion }),
      answer: answer({
        accepted: "the provider accepted the assertion",
        expired: "the provider refused the assertion as expired (237)",
        invalid: "the provider refused the assertion as invalid (239)",
        pending: "the assertion was received, but the provider has not answered in time",
        notAwaited,
      }),
    }),
  },
  secretIds: ["deviceCode"],
  command: {
    summary: "issue a disposable certificate to a holder",
    details: `From the holder's data or from an eID assertion. The holder gets a one-time password: Submit it with "trustflow otp", or with --watch on a terminal.`,
    example: "trustflow issue-certificate --input holder.json --id order-7 --watch",
    notChecked:
      "which data the account's authority requires, and the age of an assertion: the provider checks them before the enrolment",
  },
});
