// The messaging gateway: one endpoint. HTTP Basic and an API key on every request (P1 §5.3).
//
// | operation | method and path         | §              | function | effect class |
// |-----------|-------------------------|----------------|----------|--------------|
// | send      | POST /api/services/send | P1 §1.3, 4.3   | send     | once         |
//
// Payload and answer are not shown (P1 §4.3): both pass through as they are.
//
// It throws ProviderError only: what each status means stands in translate.ts, what a failed connection means in ../http/exchange.ts.
import { call } from "../http/call.js";
import { jsonOf, open } from "../http/described.js";
import { withoutSecrets } from "../errors/redaction.js";
import type { MessagingGatewayAccount } from "./account.js";
import { asked, refusal } from "./translate.js";
import { API_KEY_HEADER, SEND_PATH } from "./wire.js";

export type { MessagingGatewayAccount } from "./account.js";

const MAX_KEPT_ANSWER_BYTES = 64 * 1024;

/**
 * P1 §4.3: a 2xx with JSON or nothing is success; `answer` is its JSON, where it is small, without our credentials.
 * 401, 403 `accessDenied`; 400 `invalidRequest`; 408, 409, 5xx, another 2xx and no answer `unknownOutcome`: there
 * is no look-up.
 */
export async function send(
  account: MessagingGatewayAccount,
  payload: object,
  signal?: AbortSignal,
): Promise<{ answer?: unknown }> {
  const apiKey = account.apiKey.reveal();
  const headers = { [API_KEY_HEADER]: apiKey };
  const request = { method: "POST", path: SEND_PATH, json: payload, signal } as const;
  const secret = { headers, basic: account, sent: { credentials: [apiKey] } };
  const accepted = await call(asked, account, { ...request, ...secret }, open, refusal);
  const isKept = accepted.body.length <= MAX_KEPT_ANSWER_BYTES;
  const answer = isKept ? jsonOf(withoutSecrets(accepted).body) : undefined;
  return answer === undefined ? {} : { answer };
}
