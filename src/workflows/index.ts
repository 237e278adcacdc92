// The workflow bundle: one export for each process (docs/design.md §2).
export { issueCertificate } from "./issue-certificate/workflow.js";
export { issueCredential } from "./issue-credential/workflow.js";
export { presentCredential } from "./present-credential/workflow.js";
export { sendMessage } from "./send-message/workflow.js";
export { sendNotice } from "./send-notice/workflow.js";
export { sendNoticeBatch } from "./send-notice-batch/workflow.js";
export { sendPostal } from "./send-postal/workflow.js";
export { serveNotice } from "./serve-notice/workflow.js";
export { signEnvelope } from "./sign-envelope/workflow.js";
export { signOneShot } from "./sign-one-shot/workflow.js";
export { verifyIdentity } from "./verify-identity/workflow.js";
