// The one place where an answer of the gateway becomes a ProviderError (P1 §4.3, §7.2): `kind / effect` of `send`.
//
// | answer                                                                     | kind / effect                          |
// |----------------------------------------------------------------------------|----------------------------------------|
// | 2xx, empty or JSON                                                         | success                                |
// | another 2xx, 3xx                                                           | unknownOutcome / unknown               |
// | 400                                                                        | invalidRequest / none                  |
// | 401, code 1 `AuthenticationFailedException`                                | accessDenied / none, about the account |
// | 401, code 9 `MissingApiKeyException`, `InvalidApiKeyException`             | accessDenied / none, about the account |
// | 403, code 6 `ForbiddenException`; the roles of its message are in `detail` | accessDenied / none, about `send`      |
// | 404, 405, other 4xx                                                        | protocol / none                        |
// | 408, 409, 5xx                                                              | unknownOutcome / unknown               |
// | 429                                                                        | rateLimited / none                     |
import { operationsOf } from "../effect-classes.js";
import { meaningOf, refused } from "../http/answer.js";
import { errorWords } from "../http/described.js";
import type { ProviderError } from "../errors/provider-error.js";
import { withoutSecrets } from "../errors/redaction.js";
import type { Received } from "../errors/redaction.js";
import { effects } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const asked = operationsOf("messaging-gateway", effects)("send");

/** For any status outside 2xx. */
export function refusal(received: Received): ProviderError {
  const answer = withoutSecrets(received);
  // From what came: a type without a part of itself would be another one.
  const { type, code } = errorWords(ErrorAnswer, received);
  const { message } = errorWords(ErrorAnswer, answer);
  return refused(asked, answer, meaningOf(asked, answer.status), { type, code, message });
}
