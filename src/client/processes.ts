// Every process as the client has it: the method that starts it, and the class of its handle. A process that is forgotten here, or an
// update without a method, does not compile.
import type { Client } from "@temporalio/client";
import type { InputOf, ProcessName, Registry, ResultOf } from "../contracts/registry.js";
import type { ProcessHandle, Started, Writing } from "./handle.js";
import {
  CertificateHandle,
  CredentialHandle,
  EnvelopeHandle,
  IdentityHandle,
  MessageHandle,
  NoticeBatchHandle,
  NoticeHandle,
  OneShotHandle,
  PostalHandle,
  PresentationHandle,
  ServingHandle,
} from "./handles.js";
import type { StartOptions } from "./start-options.js";

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
 * A method starts the process, joins the one that is open under this id, or finds the finished one: the handle's `started` says which.
 * `id`: the business id, without personal data. The handle's `result()` waits for the outcome.
 *
 * Each of them throws `InvalidInputError` before anything exists, `InputMismatchError` where the id already stands for another input,
 * `UnreachableError` where Temporal does not answer: start it again with the same id. `result()` throws `NotAcceptedError` where the
 * provider refused the request, `AbandonedError` and `TerminatedError` where a person ended the process. docs/client-errors.md has every
 * error.
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
