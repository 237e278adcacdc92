// The one place where an answer of the certificate service becomes a ProviderError (P1 §4.1, §7.1): every application error is HTTP 500
// with a code, whose meaning depends on the operation (the table of docs/reading-the-specification.md §5, and docs/errors.md). 244 and
// 11002 are about the operation (and the LRA), never about the account as a whole.
import { meaningOf, refused } from "../http/answer.js";
import type { Meaning } from "../http/answer.js";
import { errorWords, jsonOf } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { CertificateOperation } from "./effects.js";
import { ErrorAnswer, eidEnrolmentFields, enrolmentFields } from "./wire.js";

export const operationOf = operationsOf("disposable-certificate", effects);

const input: Meaning = { kind: "invalidRequest", effect: "none" };
const denied: Meaning = { kind: "accessDenied", effect: "none", denies: "operation" };
/** The service refuses something that it gave us, or that we made of it. */
const ours: Meaning = { kind: "protocol", effect: "none" };

const enrolling = { 242: input, 237: input, 239: input, 244: denied, 11002: denied };
const meanings: Record<CertificateOperation, Record<number, Meaning>> = {
  checkData: enrolling,
  checkDataWitheIDAssertion: enrolling,
  enroll: enrolling,
  enrollDisposableWitheIDAssertion: enrolling,
  sendOtp: { 242: ours, 62: ours, 249: ours, 99: ours, 11002: denied },
  validate: { 242: ours, 62: ours, 249: ours, 11002: denied },
};

const enrolmentNames = namesOf(enrolmentFields);
const eidEnrolmentNames = namesOf(eidEnrolmentFields);
const fieldNames: Partial<Record<CertificateOperation, readonly (readonly [string, string])[]>> = {
  checkData: enrolmentNames,
  checkDataWitheIDAssertion: eidEnrolmentNames,
  enroll: enrolmentNames,
  enrollDisposableWitheIDAssertion: eidEnrolmentNames,
};

export function refusal(
  operation: CertificateOperation,
  received: Received,
  { wrongOtpCodes }: { wrongOtpCodes: readonly number[] },
): ProviderError {
  const asked = operationOf(operation);
  const read = ErrorAnswer.safeParse(received.status === 500 ? jsonOf(received.body) : undefined);
  if (!read.success) {
    const meaning = meaningOf(asked, received.status);
    // The certificate exists by then: a person decides, and nothing fails into a second one.
    const isAboutOne = operation === "sendOtp" || operation === "validate";
    const isOurs = isAboutOne && meaning.kind === "invalidRequest";
    return refused(asked, received, isOurs ? ours : meaning);
  }
  const { code } = read.data;
  const isWrongOtp = operation === "validate" && wrongOtpCodes.includes(code);
  const meaning = isWrongOtp ? input : (meanings[operation][code] ?? ofAnotherCode(operation));
  return refused(asked, received, meaning, (answer) => {
    const { message } = errorWords(ErrorAnswer, answer);
    const fields = code === 242 ? fieldIn(message, operation) : [];
    return { code: String(code), message, fields };
  });
}

function ofAnotherCode(operation: CertificateOperation): Meaning {
  return effects[operation] === "read" ? input : meaningOf(operationOf(operation), 500);
}

function fieldIn(message: string | undefined, operation: CertificateOperation) {
  const found = fieldNames[operation]?.find(([name]) =>
    new RegExp(`(?<!\\w)${name.replace(".", "\\.")}(?!\\w)`).test(message ?? ""),
  );
  return found ? [{ fieldName: found[1], message }] : [];
}

/** Returns what a message may call a member, with its path; the longest first. */
function namesOf(fields: Record<string, readonly string[]>): (readonly [string, string])[] {
  const names = Object.entries(fields).flatMap(([member, inner]) => [
    [member, member] as const,
    ...inner.flatMap((name) => {
      const path = `${member}.${name}`;
      return [[name, path] as const, [path, path] as const];
    }),
  ]);
  return names.toSorted(([a], [b]) => b.length - a.length);
}
