// The ways through every process, each walked on the real stack: what replay records, what runs without a cache, and what
// the canaries are looked for in. A new process adds its paths and its inputs here, never a harness.
import { issueCertificatePaths } from "./history-issue-certificate.js";
import { sendMessagePaths } from "./history-send-message.js";
import { sendPostalPaths } from "./history-send-postal.js";
import { signEnvelopePaths } from "./history-sign-envelope.js";
import { signOneShotPaths } from "./history-sign-one-shot.js";
import type { PathsOf } from "./history-walk.js";

export const allPaths: PathsOf[] = [
  issueCertificatePaths,
  sendMessagePaths,
  sendPostalPaths,
  signEnvelopePaths,
  signOneShotPaths,
];
