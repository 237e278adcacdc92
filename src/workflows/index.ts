// The workflow bundle: one export for each process (docs/design.md §2).
export { issueCertificate } from "./issue-certificate.js";
export { sendMessage } from "./send-message.js";
export { sendPostal } from "./send-postal.js";
export { signEnvelope } from "./sign-envelope.js";
export { signOneShot } from "./sign-one-shot.js";
