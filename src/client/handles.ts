// A handle has a method for each update of its process.
import {
  acceptContract,
  cancel,
  cancelBatch,
  cancelServing,
  decideVideo,
  provideAssertion,
  rejectCall,
  requestAffidavit,
  requestBatchAffidavit,
  requestNoticeAffidavit,
  updateVideo,
} from "../contracts/processes.js";
import type {
  BatchAffidavitRequest,
  NoticeAffidavitRequest,
  PostalAffidavitRequest,
} from "../contracts/processes.js";
import type { ResultOf } from "../contracts/registry.js";
import { awaitOtp, resendOtp, submitOtp } from "../contracts/shared/messages.js";
import type { ProcessStatus } from "../contracts/shared/status.js";
import { ProcessHandle } from "./handle.js";
import type { Stated, UpdateCall } from "./handle.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";
import { newestReadIn, withNewestRead } from "./newest-read.js";

/** The handle of `sendPostal`. */
export class PostalHandle extends ProcessHandle<ResultOf<"sendPostal">> {
  /** Cancels the letter before it is dispatched (P2 §4.1 Cancel). The same `updateId` is one cancellation. */
  cancel(call?: UpdateCall, stated: Stated = {}) {
    return this.update(cancel, [stated], call);
  }

  /** Requests an affidavit on demand (P2 §4.1 AffidavitRequest). The same `updateId` is one request. */
  requestAffidavit(asked: PostalAffidavitRequest = {}, call?: UpdateCall) {
    return this.update(requestAffidavit, [asked], call);
  }
}

/** The handle of `sendNotice`. */
export class NoticeHandle extends ProcessHandle<ResultOf<"sendNotice">> {
  /** Requests an affidavit on demand (P2 §4.2 On-demand affidavit). The same `updateId` is one request. */
  requestAffidavit(asked: NoticeAffidavitRequest = {}, call?: UpdateCall) {
    return this.update(requestNoticeAffidavit, [asked], call);
  }
}

/** The handle of `sendNoticeBatch`. Its status also has what the activities of the batch leave in heartbeats. */
export class NoticeBatchHandle extends ProcessHandle<ResultOf<"sendNoticeBatch">> {
  /** Deletes the batch before its start, so that no notice goes out (P2 §4.3 delete). The same `updateId` is one cancellation. */
  cancel(call?: UpdateCall, stated: Stated = {}) {
    return this.update(cancelBatch, [stated], call);
  }

  /** Requests an affidavit on demand of one notice of the batch (P2 §4.2). The same `updateId` is one request. */
  requestAffidavit(asked: BatchAffidavitRequest, call?: UpdateCall) {
    return this.update(requestBatchAffidavit, [asked], call);
  }

  /** Heartbeats are no events, so they end no wait. */
  protected override readonly watchLimitMs = 2_000;

  protected override withCalls(shown: ProcessStatus, calls: OpenCall[]): ProcessStatus {
    return withNewestRead(super.withCalls(shown, calls), newestReadIn(calls));
  }
}

/** The handle of `serveNotice`. */
export class ServingHandle extends ProcessHandle<ResultOf<"serveNotice">> {
  /**
   * Starts no post. A notice that was started is followed to its end; the post has its own `cancel`. The same `updateId` is one
   * cancellation.
   */
  cancel(call?: UpdateCall, stated: Stated = {}) {
    return this.update(cancelServing, [stated], call);
  }
}

/** A process with a one-time password (P1 §2.3–2.6). */
class OtpHandle<Result> extends ProcessHandle<Result> {
  /** Submits the code that the holder or signer entered. The same `updateId` is one try. */
  submitOtp(code: string, call?: UpdateCall) {
    return this.update(submitOtp, [{ code }], call);
  }

  /** Sends another code to the holder or signer. The same `updateId` is one code. */
  resendOtp(call?: UpdateCall) {
    return this.update(resendOtp, [], call);
  }

  /** Waits at most 15 seconds until the first code is sent; with `updateWithStart` in the request that starts the process. */
  awaitOtp(call?: UpdateCall) {
    return this.update(awaitOtp, [], call);
  }
}

/** The handle of `issueCertificate`. */
export class CertificateHandle extends OtpHandle<ResultOf<"issueCertificate">> {
  /** Gives a new eID assertion after one was refused as expired or invalid (237 and 239 of P1 §7.1). */
  provideAssertion(assertion: string, call?: UpdateCall) {
    return this.update(provideAssertion, [{ assertion }], call);
  }
}

/** The handle of `signOneShot`. */
export class OneShotHandle extends OtpHandle<ResultOf<"signOneShot">> {
  /** Accepts or refuses the contract, if the input sets `requireContractAccepted`. */
  acceptContract(accepted: boolean, call?: UpdateCall, stated: Stated = {}) {
    return this.update(acceptContract, [{ ...stated, accepted }], call);
  }

  /** Approves or cancels the identity video (P1 §1.4). */
  decideVideo(decision: "approve" | "cancel", call?: UpdateCall, stated: Stated = {}) {
    return this.update(decideVideo, [{ ...stated, decision }], call);
  }

  /**
   * Changes the request of the identity video before it is decided (P1 §1.4). `providerFields` is the body of the request; which members
   * it takes is not shown, and one may decide on the video, so it is a decision itself.
   */
  updateVideo(providerFields: Record<string, unknown>, call?: UpdateCall, stated: Stated = {}) {
    return this.update(updateVideo, [{ ...stated, providerFields }], call);
  }
}

/** The handle of `verifyIdentity`. */
export class IdentityHandle extends ProcessHandle<ResultOf<"verifyIdentity">> {
  /** Rejects the call (P1 §4.2). `providerFields` is the body of the request. */
  rejectCall(providerFields?: Record<string, unknown>, call?: UpdateCall, stated: Stated = {}) {
    const argument = { ...stated, ...(providerFields && { providerFields }) };
    return this.update(rejectCall, [argument], call);
  }
}

/** The handle of `sendMessage`. */
export class MessageHandle extends ProcessHandle<ResultOf<"sendMessage">> {}
/** The handle of `signEnvelope`. */
export class EnvelopeHandle extends ProcessHandle<ResultOf<"signEnvelope">> {}
/** The handle of `issueCredential`. */
export class CredentialHandle extends ProcessHandle<ResultOf<"issueCredential">> {}
/** The handle of `presentCredential`. */
export class PresentationHandle extends ProcessHandle<ResultOf<"presentCredential">> {}
