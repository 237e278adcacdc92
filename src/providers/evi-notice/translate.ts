// The one place where an answer of the notice API becomes a ProviderError (P2 §4.2, §4.3, §7.2): `kind / effect` by status and by
// the class of the operation (effects.ts).
//
// | status         | keyed                 | read               | repeatable            | lookup                | once                     |
// |----------------|-----------------------|--------------------|-----------------------|-----------------------|--------------------------|
// | another 2xx    | unavailable / unknown | protocol / none    | unavailable / none    | unavailable / unknown | unknownOutcome / unknown |
// | 3xx            | unavailable / unknown | protocol / none    | unavailable / none    | unavailable / unknown | unknownOutcome / unknown |
// | 400            | invalidRequest / none | protocol / none    | invalidRequest / none | invalidRequest / none | invalidRequest / none    |
// | 401, 403       | accessDenied / none   | the same           | the same              | the same              | the same                 |
// | 404            | protocol / unknown    | notVisibleYet/none | notVisibleYet / none  | notVisibleYet / none  | notVisibleYet / none     |
// | 405, other 4xx | protocol / unknown    | protocol / none    | protocol / none       | protocol / none       | protocol / none          |
// | 408, 409, 5xx  | unavailable / unknown | unavailable / none | unavailable / none    | unavailable / unknown | unknownOutcome / unknown |
// | 429            | rateLimited / none    | the same           | the same              | the same              | the same                 |
//
// Three exceptions: the 409 of `addRecipients` says that the list failed validation: invalidRequest / none. A 404 of `query`,
// `queryBatches` and `createBatch` is about no id: protocol / none. A 404 of a delete is success (client.ts).
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
