// Every process, as the generators take it.
import { issueCertificateUnderTest } from "./issue-certificate/under-test.js";
import type { ProcessUnderTest } from "./process-under-test.js";
import { sendMessageUnderTest } from "./send-message/under-test.js";
import { signEnvelopeUnderTest } from "./sign-envelope/under-test.js";
import { signOneShotUnderTest } from "./sign-one-shot/under-test.js";
import { sendPostalUnderTest } from "./send-postal/under-test.js";

export const processesUnderTest = [
  sendPostalUnderTest,
  issueCertificateUnderTest,
  sendMessageUnderTest,
  signOneShotUnderTest,
  signEnvelopeUnderTest,
] as unknown as ProcessUnderTest[];
