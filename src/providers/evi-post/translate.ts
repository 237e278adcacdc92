// The one place where an answer of the postal API becomes a ProviderError (P2 §4.1, §7.1). docs/errors.md says what each status means.
import type { z } from "zod";
import { meaningOf, refused } from "../http/answer.js";
import { jsonOf } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { HttpAnswer } from "../http/exchange.js";
import { withoutSecrets } from "../errors/redaction.js";
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
  const answer = withoutSecrets(received);
  // From what came: a name could look like a secret.
  const { errorCode, errors = [] } = wordsOf(received);
  const words = wordsOf(answer);
  const fields = errors.map((field, index) => ({
    ...field,
    message: words.errors?.[index]?.message,
  }));
  const meaning = meaningOf(asked, answer.status, ABOUT_AN_ID.has(operation));
  return refused(asked, answer, meaning, { code: errorCode, message: words.message, fields });
}

function wordsOf({ body }: HttpAnswer): Partial<z.infer<typeof ErrorAnswer>["responseStatus"]> {
  return ErrorAnswer.safeParse(jsonOf(body)).data?.responseStatus ?? {};
}
