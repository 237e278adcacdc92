// An input as the two variants of enrolment send it, and how its code reaches the holder (P1 §2.1–2.3).
import type {
  CertificateFromAssertion,
  CertificateFromData,
  IssueCertificateInput,
} from "../../contracts/issue-certificate/contract.js";
import type {
  EidEnrolment,
  Enrolment as DataEnrolment,
  OtpMessage,
} from "../../providers/disposable-certificate/client.js";

export type Enrolment = { data: DataEnrolment } | { eid: EidEnrolment };

const disposable = "DISPOSABLE";

/** `assertion` is the fresh one, where the input's was refused. */
export function enrolmentOf(input: IssueCertificateInput, assertion?: string): Enrolment {
  return isFromData(input) ? { data: fromData(input) } : { eid: fromAssertion(input, assertion) };
}

export function messageOf(input: IssueCertificateInput): OtpMessage {
  if (!isFromData(input) || input.smsOptions) return { smsOptions: input.smsOptions };
  return { emailOptions: input.emailOptions };
}

function isFromData(input: IssueCertificateInput): input is CertificateFromData {
  return "disposableHolder" in input;
}

function fromData(input: CertificateFromData): DataEnrolment {
  const { account: _, settings: __, smsOptions: ___, emailOptions: ____, ...enrolment } = input;
  const { disposableCertificate } = enrolment;
  return { ...enrolment, disposableCertificate: { type: disposable, ...disposableCertificate } };
}

function fromAssertion(
  { eidAssertionHolder, contacts, certificate }: CertificateFromAssertion,
  assertion = eidAssertionHolder.assertion,
): EidEnrolment {
  return {
    eidAssertionHolder: { ...eidAssertionHolder, assertion },
    contacts,
    certificate: { type: disposable, ...certificate },
  };
}
