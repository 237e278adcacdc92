// The codes of a disposable certificate: sent to the holder, and validated (P1 §2.4–2.6, 4.1; docs/reading-the-specification.md §5).
import * as authority from "../../providers/disposable-certificate/client.js";
import type { OtpMessage } from "../../providers/disposable-certificate/client.js";
import type { StepCall, UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { EffectReference } from "../runtime/effect.js";
import {
  firstCode,
  isUnanswered,
  resendResultOf,
  tryResultOf,
} from "../runtime/one-time-password.js";
import type { FirstCode, OtpResult, SentAgain } from "../runtime/one-time-password.js";
import type { CertificateContext } from "./context.js";

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

/** The call of the update `resendOtp`. */
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
  effect: EffectReference,
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

/** The call of the update `submitOtp`; with `watch`, only whether its answer has become known. */
export async function validate(
  context: CertificateContext,
  { effect, certIdOtp, ...sealed }: StepCall & Certificate & { otp: string },
): Promise<OtpResult> {
  const { account, mode } = context;
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
