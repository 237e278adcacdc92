// The one place where an answer of the two hosts becomes a ProviderError. P1 §7.3 shows no error: a status means what
// ../http/answer.ts says for its effect class, `kind / effect`:
//
// | status         | esawoneshot              | uploadFile            | sendEnvelope             |
// |----------------|--------------------------|-----------------------|--------------------------|
// | 2xx, empty     | unknownOutcome / unknown | unavailable / none    | success                  |
// | another 2xx    | unknownOutcome / unknown | unavailable / none    | unknownOutcome / unknown |
// | 3xx            | unknownOutcome / unknown | unavailable / none    | unknownOutcome / unknown |
// | 400            | invalidRequest / none    | protocol / none       | protocol / none          |
// | 401, 403       | accessDenied / none      | the same              | the same                 |
// | 404, other 4xx | protocol / none          | protocol / none       | protocol / none          |
// | 408, 409, 5xx  | unknownOutcome / unknown | unavailable / none    | unknownOutcome / unknown |
// | 429            | rateLimited / none       | the same              | the same                 |
//
// 400 on the envelope host: the certificate request exists already, so a person decides what is wrong, and nothing fails.
// "another 2xx": not the described answer (../http/described.ts); one `req_pk` that it shows is kept as `reference`.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import { withoutSecrets } from "../errors/redaction.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { EnvelopeOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const operationOf = operationsOf("envelope-signature", effects);

/** For any status outside 2xx. */
export function refusal(operation: EnvelopeOperation, received: Received): ProviderError {
  const asked = operationOf(operation);
  const answer = withoutSecrets(received);
  // Replaced in the received text, because an error code may contain an OTP that a person entered.
  const { code, ErrorId } = errorWords(ErrorAnswer, received);
  const { message, Message } = errorWords(ErrorAnswer, answer);
  const words = { code: code ?? ErrorId, message: message ?? Message };
  const meaning = meaningOf(asked, answer.status);
  if (meaning.kind === "invalidRequest" && operation !== "esawoneshot") meaning.kind = "protocol";
  return refused(asked, answer, meaning, words);
}
