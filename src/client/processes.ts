// Every process as the client has it: the method that starts it, and the class of its handle. A process that is forgotten here, or an
// update without a method, does not compile.
import type { Client, WorkflowStartOptions } from "@temporalio/client";
import type { InputOf, ProcessName, Registry, ResultOf } from "../contracts/registry.js";
import type { Started, Writing, Stated, UpdateCall } from "./handle.js";
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
import { awaitOtp, resendOtp, submitOtp } from "../contracts/shared/messages.js";
import type { ProcessStatus } from "../contracts/shared/status.js";
import { ProcessHandle } from "./handle.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";
import { newestReadIn, withNewestRead } from "./newest-read.js";
import { InvalidInputError } from "../errors/index.js";
import type { Waiting } from "./waiting.js";

/** Of Temporal's options of a start those that a caller may set. */
export const temporalOptions = [
  "memo",
  "priority",
  "startDelay",
  "staticSummary",
  "staticDetails",
  "versioningOverride",
] as const;
type TemporalOption = (typeof temporalOptions)[number];

/**
 * Temporal's options of the same names. They count where the start creates the process; one that joins changes nothing. `memo` and
 * `staticDetails` are encrypted; the names in `memo` are not. `staticSummary` replaces title and id in the Web UI. Default of
 * each: that of Temporal, title and id as the summary, and the account as the fairness key of `priority`.
 */
export type StartOptions = Waiting &
  Pick<WorkflowStartOptions, TemporalOption> & {
    [other in Exclude<keyof WorkflowStartOptions, TemporalOption>]?: never;
  };

/** The names under which the workers keep what a client reads of a process. */
const OWN = /^trustflow/i;

export function refuseOwnNames({ memo = {} }: StartOptions): void {
  const fields = Object.keys(memo)
    .filter((name) => OWN.test(name))
    .map((name) => ({ path: `options.memo.${name}`, problem: "is a name of Trustflow's own" }));
  if (fields.length > 0) throw new InvalidInputError(fields);
}

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

/** The class of handle that a process has. */
export const handles = {
  sendPostal: PostalHandle,
  sendNotice: NoticeHandle,
  sendNoticeBatch: NoticeBatchHandle,
  issueCertificate: CertificateHandle,
  sendMessage: MessageHandle,
  signOneShot: OneShotHandle,
  signEnvelope: EnvelopeHandle,
  verifyIdentity: IdentityHandle,
  issueCredential: CredentialHandle,
  presentCredential: PresentationHandle,
  serveNotice: ServingHandle,
} satisfies { [P in ProcessName]: HandleClass<P> };

/** Its instances have a method for each update of the process. */
type HandleClass<P extends ProcessName> = new (
  client: Client,
  processName: ProcessName,
  id: string,
  writing?: Writing,
  started?: Started,
) => ProcessHandle<ResultOf<P>> & {
  [update in keyof Registry[P]["updates"]]: (...given: never[]) => Promise<unknown>;
};

/** The handle of a process, by its name. */
export type HandleOf<P extends ProcessName> = InstanceType<(typeof handles)[P]>;
/** The handle of some process. */
export type AnyHandle = HandleOf<ProcessName>;

/** The handle that a start returns: `started` says whether this start created the process, or joined one that is open or finished. */
export type StartedHandle<P extends ProcessName> = HandleOf<P> & { readonly started: Started };

type Methods = {
  [P in ProcessName]: (
    id: string,
    input: InputOf<P>,
    options?: StartOptions,
  ) => Promise<StartedHandle<P>>;
};

/**
 * A method starts the process, joins the one that is open under this id, or finds the one that ended with a result: the handle's `started`
 * says which. One that failed or was terminated is started again. `id`: the business id, without personal data. The handle's `result()`
 * waits for the outcome.
 *
 * Each of them throws `InvalidInputError` before anything exists, `InputMismatchError` where the id already stands for another input,
 * `UnreachableError` where Temporal does not answer: start it again with the same id. `result()` throws `NotAcceptedError` where the
 * provider refused the request, `AbandonedError` and `TerminatedError` where a person ended the process.
 * docs/reference/client-errors.md has every error.
 */
export abstract class Starts implements Methods {
  /** Starts any process by its name, as the method of that name does. */
  abstract start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
    options?: StartOptions,
  ): Promise<StartedHandle<P>>;

  /**
   * Sends a certified letter, follows it until it is closed, and collects its affidavits (P2 §2.1–2.5, 3.1, 4.1).
   *
   * Input: the PDF, inline or stored, and the recipient's address. Outcomes: those of P2 §3.1, such as `delivered`, `rejected` or
   * `expired`; `cancelledBeforeSubmit`; `openAtDeadline`; `other`. Errors: those of every process (`Starts`).
   */
  sendPostal(id: string, input: InputOf<"sendPostal">, options?: StartOptions) {
    return this.start("sendPostal", id, input, options);
  }

  /**
   * Sends a certified notice by e-mail or to a mobile number, follows it until it is closed, and collects its attachments and affidavits
   * (P2 §2.6–2.7, 3.2, 4.2).
   *
   * Input: recipient, subject and body, and what has to be certified. Outcomes: those of P2 §3.2, such as `read`, `accepted` or
   * `refused`; `openAtDeadline`; `other`. Errors: those of every process (`Starts`).
   */
  sendNotice(id: string, input: InputOf<"sendNotice">, options?: StartOptions) {
    return this.start("sendNotice", id, input, options);
  }

  /**
   * Sends a certified notice to each recipient of a list, follows all of them, and reports on each (P2 §2.8–2.12, 3.3, 4.3).
   *
   * Input: the list as CSV, subject and body. Outcomes: `closed`, `openAtDeadline`, `invalid`, `failed`, `cancelledBeforeSubmit`,
   * `cancelledBeforeStart`; the report has the outcome of each notice. Errors: those of every process (`Starts`).
   */
  sendNoticeBatch(id: string, input: InputOf<"sendNoticeBatch">, options?: StartOptions) {
    return this.start("sendNoticeBatch", id, input, options);
  }

  /**
   * Issues a disposable certificate: enrols the holder, sends a one-time password and validates it (P1 §1.1, 2.1–2.6, 4.1).
   *
   * Input: the holder's data, or an eID assertion. The code arrives by the handle's `submitOtp`. Outcomes: `issued`, `expired`, `locked`.
   * Errors: those of every process (`Starts`).
   */
  issueCertificate(id: string, input: InputOf<"issueCertificate">, options?: StartOptions) {
    return this.start("issueCertificate", id, input, options);
  }

  /**
   * Hands a message to the messaging gateway, which reports no later status (P1 §1.3, 4.3).
   *
   * Input: `providerFields`, the gateway's whole payload. Outcome: `accepted`. Errors: those of every process (`Starts`).
   */
  sendMessage(id: string, input: InputOf<"sendMessage">, options?: StartOptions) {
    return this.start("sendMessage", id, input, options);
  }

  /**
   * Has documents signed with a one-shot certificate, in one of four variants, and fetches the signed ones (P1 §1.4, 2.9, 4.4).
   *
   * Input: the variant, the service's payload and the documents. The code arrives by the handle's `submitOtp`. Outcomes: `signed`,
   * `failed`, `cancelled`, `contractRefused`, `expired`, `locked`, `openAtDeadline`, `other`. Errors: those of every process (`Starts`).
   */
  signOneShot(id: string, input: InputOf<"signOneShot">, options?: StartOptions) {
    return this.start("signOneShot", id, input, options);
  }

  /**
   * Requests a one-shot certificate and sends documents in an envelope that it signs; the provider reports no later status (P1 §1.5, 2.10,
   * 4.5).
   *
   * Input: the documents, and the payloads of request and envelope. Outcome: `sent`. Errors: those of every process (`Starts`).
   */
  signEnvelope(id: string, input: InputOf<"signEnvelope">, options?: StartOptions) {
    return this.start("signEnvelope", id, input, options);
  }

  /**
   * Follows an identification by video call to its end, and keeps its data and its audit (P1 §1.2, 2.7, 4.2, 6.1).
   *
   * Input: the id of a conference that exists already. Outcomes: `verified`, `notVerified`, `closed` (no verdict is shown), `rejected`,
   * `openAtDeadline`, `other`. Errors: those of every process (`Starts`).
   */
  verifyIdentity(id: string, input: InputOf<"verifyIdentity">, options?: StartOptions) {
    return this.start("verifyIdentity", id, input, options);
  }

  /**
   * Creates what the issuance of a wallet credential needs, where it does not exist yet, and starts the flow; the provider reports no later
   * status (P1 §1.6, 2.11, 4.6).
   *
   * Input: operator, template and service, each as `{ id }` or `{ providerFields }`, and `init`. Outcomes: `initiated`; without `init`
   * `setUp`. Errors: those of every process (`Starts`).
   */
  issueCredential(id: string, input: InputOf<"issueCredential">, options?: StartOptions) {
    return this.start("issueCredential", id, input, options);
  }

  /**
   * Creates what the presentation of a wallet credential needs, where it does not exist yet, and starts the flow; the provider reports no
   * later status (P1 §1.6, 2.11, 4.6).
   *
   * Input: as `issueCredential`, and `verificationTemplate`. Outcomes: `initiated`; without `init` `setUp`. Errors: those of every process
   * (`Starts`).
   */
  presentCredential(id: string, input: InputOf<"presentCredential">, options?: StartOptions) {
    return this.start("presentCredential", id, input, options);
  }

  /**
   * Sends a certified notice, and certified post to the same person if the notice is not served by a deadline (P2 §2.1–2.7, 3.1, 3.2).
   *
   * Input: those of `sendNotice` and `sendPostal`, and `servedWhen`. Outcomes: `servedByNotice`, `servedByPost`, `servedByBoth`,
   * `notServed`, `cancelledBeforeSubmit`, `openAtDeadline`. Errors: those of every process (`Starts`).
   */
  serveNotice(id: string, input: InputOf<"serveNotice">, options?: StartOptions) {
    return this.start("serveNotice", id, input, options);
  }
}
