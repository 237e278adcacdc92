// The one place where an answer of the credential wallet becomes a ProviderError. P1 §7.3 shows no error: docs/errors.md says what each
// status means. 400 of a later effect: something exists already, so a person decides what is wrong, and nothing fails.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { WalletOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const asking = operationsOf("credential-wallet", effects);

/** For any status outside 2xx. `isLater`: an earlier effect of the process exists. */
export function refusal(
  operation: WalletOperation,
  received: Received,
  isLater: boolean,
): ProviderError {
  const asked = asking(operation);
  const meaning = meaningOf(asked, received.status);
  if (meaning.kind === "invalidRequest" && isLater) meaning.kind = "protocol";
  return refused(asked, received, meaning, (answer) => {
    const { code, message, detail } = errorWords(ErrorAnswer, answer);
    return { code, message: message ?? detail };
  });
}
