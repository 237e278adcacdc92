// The one place where an answer of the notice API becomes a ProviderError (P2 §4.2, §4.3, §7.2). docs/errors.md says
// what each status means.
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import type { NoticeOperation } from "./effects.js";
import { ProblemDocument } from "./wire.js";

export const asking = operationsOf("evi-notice", effects);

/** The operations about no id that an earlier answer gave us. */
const aboutNoId = new Set<NoticeOperation>(["submit", "query", "queryBatches", "createBatch"]);

/** For any status outside 2xx. 403 and 405 of an on-demand affidavit are told apart by `status`. */
export function refusal(operation: NoticeOperation, received: Received): ProviderError {
  const asked = asking(operation);
  const isListRefused = operation === "addRecipients" && received.status === 409;
  const meaning = isListRefused
    ? ({ kind: "invalidRequest", effect: "none" } as const)
    : meaningOf(asked, received.status, !aboutNoId.has(operation));
  const listProblem = isListRefused ? "the list of recipients failed the validation" : undefined;
  return refused(asked, received, meaning, (answer) => {
    const { Type, Title, Detail, RequestId } = errorWords(ProblemDocument, answer);
    return { type: Type, requestId: RequestId, message: Detail ?? Title ?? listProblem };
  });
}
