// The activities of the disposable certificate service (P1 §2.1–2.6, 4.1; docs/reading-the-specification.md §5).
import { activitiesOf } from "../runtime/activity.js";
import { CertificateContext, provider } from "./context.js";
import type { CertificateDependencies } from "./context.js";
import { checkData, enroll, prepare } from "./enroll.js";
import { resendOtp, sendOtp, validate } from "./one-time-password.js";

export type { CertificatePlan, Enrolled, RefusedAssertion } from "./enroll.js";

export function createCertificateActivities(deps: CertificateDependencies) {
  const activity = activitiesOf(provider, deps, CertificateContext);
  return {
    prepare: activity("prepare", prepare),
    checkData: activity("checkData", checkData),
    enroll: activity("enroll", enroll),
    sendOtp: activity("sendOtp", sendOtp),
    resendOtp: activity("sendOtp", resendOtp),
    validate: activity("validate", validate),
  };
}
