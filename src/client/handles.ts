// The handle of each process: what it takes beside what all of them take.
import { randomUUID } from "node:crypto";
import type { IssueCertificateResult } from "../contracts/issue-certificate.js";
import { provideAssertion } from "../contracts/issue-certificate/messages.js";
import type { AssertionAnswer } from "../contracts/issue-certificate/messages.js";
import { cancel, requestAffidavit } from "../contracts/send-postal/messages.js";
import type { AffidavitAnswer, CancelAnswer } from "../contracts/send-postal/messages.js";
import { resendOtp, submitOtp } from "../contracts/shared/messages.js";
import type { Decider, OtpAnswer, ResendAnswer } from "../contracts/shared/messages.js";
import { acceptContract, decideVideo } from "../contracts/sign-one-shot/messages.js";
import type { ContractAnswer, VideoAnswer } from "../contracts/sign-one-shot/messages.js";
import type { ProcessName } from "../contracts/shared/names.js";
import type { SendMessageResult } from "../contracts/send-message.js";
import type { PostalAffidavitRequest, SendPostalResult } from "../contracts/send-postal.js";
import type { SignEnvelopeResult } from "../contracts/sign-envelope.js";
import type { SignOneShotResult } from "../contracts/sign-one-shot.js";
import { ProcessHandle } from "./handle.js";

/** Who decides, and why. */
type Stated = Omit<Decider, "signature">;

export class PostalHandle extends ProcessHandle<SendPostalResult> {
  /** P2 §4.1 Cancel. The same `updateId` is one cancellation; `stated` says who cancels, and why. */
  cancel(updateId: string = randomUUID(), stated: Stated = {}): Promise<CancelAnswer> {
    return this.decide(cancel, stated, updateId);
  }

  /** P2 §4.1 AffidavitRequest. The same `updateId` is one request. */
  requestAffidavit(
    asked: PostalAffidavitRequest = {},
    updateId: string = randomUUID(),
  ): Promise<AffidavitAnswer> {
    return this.update(requestAffidavit, [asked], updateId);
  }
}

/** What a process with a one-time password takes (docs/reading-the-specification.md §5). */
class OtpHandle<Result> extends ProcessHandle<Result> {
  /** The code that the holder entered. The same `updateId` is one try. */
  submitOtp(code: string, updateId: string = randomUUID()): Promise<OtpAnswer> {
    return this.update(submitOtp, [{ code }], updateId);
  }

  /** Another code for the holder. The same `updateId` is one code. */
  resendOtp(updateId: string = randomUUID()): Promise<ResendAnswer> {
    return this.update(resendOtp, [], updateId);
  }
}

export class CertificateHandle extends OtpHandle<IssueCertificateResult> {
  /** A fresh eID assertion where one was refused as expired or invalid (237 and 239 of P1 §7.1). */
  provideAssertion(assertion: string, updateId: string = randomUUID()): Promise<AssertionAnswer> {
    return this.update(provideAssertion, [{ assertion }], updateId);
  }
}

export class OneShotHandle extends OtpHandle<SignOneShotResult> {
  /** Whether the contract is accepted, where `requireContractAccepted` waits for that. */
  acceptContract(
    accepted: boolean,
    updateId: string = randomUUID(),
    stated: Stated = {},
  ): Promise<ContractAnswer> {
    return this.decide(acceptContract, { ...stated, accepted }, updateId);
  }

  /** P1 §1.4: approves or cancels the identity video. */
  decideVideo(
    decision: "approve" | "cancel",
    updateId: string = randomUUID(),
    stated: Stated = {},
  ): Promise<VideoAnswer> {
    return this.decide(decideVideo, { ...stated, decision }, updateId);
  }
}

export class EnvelopeHandle extends ProcessHandle<SignEnvelopeResult> {}

export class MessageHandle extends ProcessHandle<SendMessageResult> {}

/** The class of handle that a process has. */
export const handles = {
  issueCertificate: CertificateHandle,
  sendMessage: MessageHandle,
  sendPostal: PostalHandle,
  signOneShot: OneShotHandle,
  signEnvelope: EnvelopeHandle,
} satisfies Record<ProcessName, unknown>;

export type HandleOf<P extends ProcessName> = InstanceType<(typeof handles)[P]>;
export type AnyHandle = HandleOf<ProcessName>;
