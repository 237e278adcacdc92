// The enrollments of the simulated certificate service, and the one-time password of each (P1 §2.3–2.5).
import type { OneTimePassword } from "../../engine/one-time-password.js";
import type { ItemSummary } from "../../exchange/operation.js";

export interface Enrollment {
  certIdOtp: number;
  deviceCode: string;
  otpId?: number;
  operation: string;
  account: string;
  lraId: string;
  intent: string;
  magicKey?: string | undefined;
  mobile?: string | undefined;
  email?: string | undefined;
  createdAt: number;
  state: "enrolled" | "otpSent" | "validated";
  otp?: OneTimePassword;
}

export function summary(enrollment: Enrollment): ItemSummary {
  const { certIdOtp, intent, account, state, createdAt } = enrollment;
  return {
    provider: "disposable-certificate",
    id: String(certIdOtp),
    intent,
    account,
    state,
    outcome: state === "validated" ? "Issued" : "None",
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Without what only the caller and the holder may know. */
/** Shows the `deviceCode`, because an operator who decides about an enrolment without an answer reads it at the provider. */
export function view(enrollment: Enrollment): Record<string, unknown> {
  const { otp, ...rest } = enrollment;
  const { code: _code, ...left } = otp ?? {};
  return { ...rest, ...summary(enrollment), ...(otp && { otp: left }) };
}
