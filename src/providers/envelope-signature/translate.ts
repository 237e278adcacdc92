// The one place where an answer of the two hosts becomes a ProviderError. P1 §7.3 shows no error: docs/errors.md says what each status
// means. 400 on the envelope host: the certificate request exists already, so a person decides what is wrong, and nothing fails.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { EnvelopeOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const operationOf = operationsOf("envelope-signature", effects);

export function refusal(operation: EnvelopeOperation, received: Received): ProviderError {
  const asked = operationOf(operation);
  const meaning = meaningOf(asked, received.status);
  if (meaning.kind === "invalidRequest" && operation !== "esawoneshot") meaning.kind = "protocol";
  return refused(asked, received, meaning, (answer) => {
    const { code, ErrorId, message, Message } = errorWords(ErrorAnswer, answer);
    return { code: code ?? ErrorId, message: message ?? Message };
  });
}
