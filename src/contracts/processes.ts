// Lists the processes, and what each of them publishes: its schemas, messages and states.
import type { ProcessContract } from "./definition/process-contract.js";
import { sendPostal } from "./send-postal/process.js";
import { sendNotice } from "./send-notice/process.js";
import { sendNoticeBatch } from "./send-notice-batch/process.js";
import { issueCertificate } from "./issue-certificate/process.js";
import { sendMessage } from "./send-message/process.js";
import { signOneShot } from "./sign-one-shot/process.js";
import { signEnvelope } from "./sign-envelope/process.js";
import { verifyIdentity } from "./verify-identity/process.js";
import { issueCredential } from "./issue-credential/process.js";
import { presentCredential } from "./present-credential/process.js";
import { serveNotice } from "./serve-notice/process.js";

export * from "./send-postal/process.js";
export * from "./send-notice/process.js";
export * from "./send-notice-batch/process.js";
export * from "./issue-certificate/process.js";
export * from "./send-message/process.js";
export * from "./sign-one-shot/process.js";
export * from "./sign-envelope/process.js";
export * from "./verify-identity/process.js";
export * from "./issue-credential/process.js";
export * from "./present-credential/process.js";
export * from "./serve-notice/process.js";

export const registry = {
  /** A certified postal communication (P2 §2.1, §4.1). */
  sendPostal,
  /** A certified notice (P2 §2.6, §4.2). */
  sendNotice,
  /** Certified notices to a list of recipients (P2 §2.8–2.12, §4.3). */
  sendNoticeBatch,
  /** A disposable certificate (P1 §1.1, 4.1). */
  issueCertificate,
  /** A message (P1 §1.3, 4.3). */
  sendMessage,
  /** A one-shot signature (P1 §1.4, 4.4). */
  signOneShot,
  /** An envelope that a one-shot certificate signs (P1 §1.5, 4.5). */
  signEnvelope,
  /** An identification by video call (P1 §1.2, 4.2, 6.1). */
  verifyIdentity,
  /** A credential of a wallet, issued (P1 §1.6, 4.6). */
  issueCredential,
  /** A credential of a wallet, presented (P1 §1.6, 4.6). */
  presentCredential,
  /** A certified notice, and certified post if it is not served in time (P2 §2.1–2.7). */
  serveNotice,
} satisfies Record<string, ProcessContract>;
