// The updates of every process with a one-time password (P1 §2.3–2.6).
import type { OtpAnswer, ResendAnswer } from "../contracts/shared/messages.js";
import { resendOtp, submitOtp } from "../contracts/shared/messages.js";
import { ProcessHandle } from "./handle.js";

export class OtpHandle<Result> extends ProcessHandle<Result> {
  /** Submits the code that the holder or signer entered. The same `updateId` is one try. */
  submitOtp(code: string, updateId?: string): Promise<OtpAnswer> {
    return this.update(submitOtp, [{ code }], updateId);
  }

  /** Sends another code to the holder or signer. The same `updateId` is one code. */
  resendOtp(updateId?: string): Promise<ResendAnswer> {
    return this.update(resendOtp, [], updateId);
  }
}
