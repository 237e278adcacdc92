// What the package publishes as `trustflow/contracts`, and the registry behind the JSON Schemas and the CLI.
import {
  IssueCertificateInput,
  IssueCertificateResult,
  IssueCertificateStatus,
} from "./issue-certificate.js";
import { SendMessageInput, SendMessageResult, SendMessageStatus } from "./send-message.js";
import { SendPostalInput, SendPostalResult, SendPostalStatus } from "./send-postal.js";
import { SignEnvelopeInput, SignEnvelopeResult, SignEnvelopeStatus } from "./sign-envelope.js";
import { SignOneShotInput, SignOneShotResult, SignOneShotStatus } from "./sign-one-shot.js";

export * from "./shared/failures.js";
export * from "./issue-certificate.js";
export * from "./issue-certificate/messages.js";
export * from "./shared/messages.js";
export * from "./shared/names.js";
export * from "./shared/provider-event.js";
export * from "./send-message.js";
export * from "./send-postal.js";
export * from "./send-postal/messages.js";
export * from "./send-postal/states.js";
export * from "./sign-envelope.js";
export * from "./sign-one-shot.js";
export * from "./sign-one-shot/messages.js";
export * from "./shared/status.js";
export * from "./shared/values.js";

/** One entry for each process. */
export const contracts = {
  signEnvelope: {
    input: SignEnvelopeInput,
    result: SignEnvelopeResult,
    status: SignEnvelopeStatus,
  },
  signOneShot: { input: SignOneShotInput, result: SignOneShotResult, status: SignOneShotStatus },
  issueCertificate: {
    input: IssueCertificateInput,
    result: IssueCertificateResult,
    status: IssueCertificateStatus,
  },
  sendMessage: { input: SendMessageInput, result: SendMessageResult, status: SendMessageStatus },
  sendPostal: { input: SendPostalInput, result: SendPostalResult, status: SendPostalStatus },
};
