// The one place where an answer of the notice API becomes a ProviderError (P2 §4.2, §4.3, §7.2). docs/errors.md says
// what each status means.
import { meaningOf, refused } from "../http/answer.js";
import { jsonOf } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import { withoutSecrets } from "../errors/redaction.js";
import type { ErrorWords, Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { NoticeOperation } from "./effects.js";
import { ProblemDocument } from "./wire.js";

export const asking = operationsOf("evi-notice", effects);

/** The operations about no id that an earlier answer gave us. */
const aboutNoId = new Set<NoticeOperation>(["submit", "query", "queryBatches", "createBatch"]);

/** For any status outside 2xx. 403 and 405 of an on-demand affidavit are told apart by `status`. */
export function refusal(operation: NoticeOperation, received: Received): ProviderError {
  const asked = asking(operation);
  const answer = withoutSecrets(received);
  const isListRefused = operation === "addRecipients" && answer.status === 409;
  const meaning = isListRefused
    ? ({ kind: "invalidRequest", effect: "none" } as const)
    : meaningOf(asked, answer.status, !aboutNoId.has(operation));
  // From what came: a classifier could look like a secret.
  const { type, requestId } = wordsOf(received);
  const listProblem = isListRefused ? "the list of recipients failed the validation" : undefined;
  const { message = listProblem } = wordsOf(answer);
  return refused(asked, answer, meaning, { type, requestId, message });
}

/** P2 §7.2. */
function wordsOf({ body }: Received): ErrorWords {
  const { Type, Title, Detail, RequestId } = ProblemDocument.safeParse(jsonOf(body)).data ?? {};
  return { type: Type, requestId: RequestId, message: Detail ?? Title };
}
