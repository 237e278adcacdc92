// The one place where an answer of the postal API becomes a ProviderError (P2 §4.1, §7.1). docs/errors.md says what each status means.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { PostalOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const asking = operationsOf("evi-post", effects);

/** The operations about an id that an earlier answer gave us. */
const ABOUT_AN_ID = new Set<PostalOperation>(["requestAffidavit", "cancel", "downloadAffidavits"]);

/** For any status outside 2xx. 401 and 403 of a cancel also mean "not the owner" and "no permission": told by `status`. */
export function refusal(operation: PostalOperation, received: Received): ProviderError {
  const asked = asking(operation);
  const meaning = meaningOf(asked, received.status, ABOUT_AN_ID.has(operation));
  return refused(asked, received, meaning, (answer) => {
    const {
      errorCode,
      message,
      errors = [],
    } = errorWords(ErrorAnswer, answer).responseStatus ?? {};
    return { code: errorCode, message, fields: errors };
  });
}
