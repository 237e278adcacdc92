// The one place where an answer of the gateway becomes a ProviderError (P1 §4.3, §7.2). docs/errors.md says what each status means.
import { operationsOf } from "../effect-classes.js";
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const asked = operationsOf("messaging-gateway", effects)("send");

export function refusal(received: Received): ProviderError {
  const meaning = meaningOf(asked, received.status);
  return refused(asked, received, meaning, (answer) => errorWords(ErrorAnswer, answer));
}
