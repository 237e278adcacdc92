// The one place where an answer of the gateway becomes a ProviderError (P1 §4.3, §7.2): `kind / effect` of `send`.
//
// | answer                                                                     | kind / effect                          |
// |----------------------------------------------------------------------------|----------------------------------------|
// | 2xx                                                                        | success, whatever it says              |
// | 3xx                                                                        | protocol / unknown                     |
// | 400                                                                        | invalidRequest / none                  |
// | 401, code 1 `AuthenticationFailedException`                                | accessDenied / none, about the account |
// | 401, code 9 `MissingApiKeyException`, `InvalidApiKeyException`             | accessDenied / none, about the account |
// | 403, code 6 `ForbiddenException`; the roles of its message are in `detail` | accessDenied / none, about `send`      |
// | 404, 405, other 4xx                                                        | protocol / none                        |
// | 408, 409, 5xx                                                              | unknownOutcome / unknown               |
// | 429                                                                        | rateLimited / none                     |
import { z } from "zod";
import { jsonOf, meaningOf, refused, withoutSecrets } from "../answer.js";
import type { ProviderError } from "../errors.js";
import type { HttpAnswer } from "../http.js";

export const asked = { provider: "messaging-gateway", operation: "send" } as const;

const Text = z.string().optional().catch(undefined);
/** P1 §2.8. */
const ErrorAnswer = z.looseObject({
  type: Text,
  code: z.int().transform(String).optional().catch(undefined),
  message: Text,
});

/** For any status outside 2xx. `secrets`: what was sent and must not come back in the error. */
export function refusal(received: HttpAnswer, secrets: readonly string[]): ProviderError {
  const answer = withoutSecrets(received, secrets);
  const { type, code, message } = ErrorAnswer.safeParse(jsonOf(answer.body)).data ?? {};
  return refused(asked, answer, meaningOf(asked, answer.status), { type, code, message });
}
