// The ways through every process, each walked on the real stack: what replay records, what runs without a cache, and what
// the canaries are looked for in. A new process adds its paths and its inputs here, never a harness.
import { issueCertificatePaths } from "../../processes/issue-certificate/paths.js";
import { sendMessagePaths } from "../../processes/send-message/paths.js";
import { sendPostalPaths } from "../../processes/send-postal/paths.js";
import { signEnvelopePaths } from "../../processes/sign-envelope/paths.js";
import { signOneShotPaths } from "../../processes/sign-one-shot/paths.js";
import type { PathsOf } from "./walk.js";

export const allPaths: PathsOf[] = [
  issueCertificatePaths,
  sendMessagePaths,
  sendPostalPaths,
  signEnvelopePaths,
  signOneShotPaths,
];
