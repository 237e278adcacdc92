// The one place where an answer of the one-shot signature service becomes a ProviderError. P1 §7.3 shows no error: docs/errors.md says
// what each status means. The account's codes of a wrong or expired OTP count with whatever status.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords, jsonOf } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Meaning } from "../http/answer.js";
import type { Received } from "../errors/redaction.js";
import type { OtpCodes } from "./account.js";
import { effects } from "./effects.js";
import type { OneShotOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const asking = operationsOf("one-shot-signature", effects);

/** These may be refused for good: later on the request exists already, so a person decides what is wrong, and nothing fails. */
const failing: ReadonlySet<OneShotOperation> = new Set(["create", "createToken", "sign"]);

export function refusal(
  operation: OneShotOperation,
  received: Received,
  codes: OtpCodes,
): ProviderError {
  const asked = asking(operation);
  const wordsOf = (answer: Received) => errorWords(ErrorAnswer, answer);
  const isAboutAnId = asked.effectClass === "read";
  const isOtp = operation === "sign" && otpVerdict(codes, wordsOf(received)) !== undefined;
  const meaning: Meaning = isOtp
    ? { kind: "invalidRequest", effect: "none" }
    : meaningOf(asked, received.status, isAboutAnId && operation !== "listTokens");
  if (meaning.kind === "invalidRequest" && !failing.has(operation)) meaning.kind = "protocol";
  return refused(asked, received, meaning, wordsOf);
}

/** Reads from a refused `sign` what it says about the OTP; undefined: something else was refused. */
export function otpVerdict(
  { wrongOtpCodes, expiredOtpCodes }: OtpCodes,
  { code }: { code?: string | undefined },
): "wrong" | "expired" | undefined {
  if (code === undefined) return undefined;
  if (wrongOtpCodes.includes(code)) return "wrong";
  return expiredOtpCodes.includes(code) ? "expired" : undefined;
}

/** Whether a body is an error, whatever its status (P1 §7.3, assumed). */
export function showsError(body: Buffer): boolean {
  const json = jsonOf(body);
  const names = ["code", "message", "error", "errors", "detail"];
  return typeof json === "object" && json !== null && names.some((name) => name in json);
}
