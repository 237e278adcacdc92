// What every endpoint of the postal and the notice API shares: HTTP Basic, the idempotency token, and the id that a broken
// answer shows (P2 §4.1, §4.2, §5).
import { basic, basicSecrets, call as callHost } from "../http/call.js";
import type { Answered, BasicCredentials, Host, Request } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { HttpAnswer } from "../http/exchange.js";
import type { ProviderOperation } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";

export type EviAccount = Host & BasicCredentials;

/** `secrets`: what the body carries in secret. */
export type EviRequest = Request & { secrets?: readonly string[] };

/** One HTTP call with the credentials of the account; throws for what is no described answer. */
export async function eviCall<T>(
  asked: ProviderOperation,
  account: EviAccount,
  { secrets = [], ...request }: EviRequest,
  described: Described<T>,
  refusal: (answer: Received) => ProviderError,
): Promise<Answered<T>> {
  const headers = { authorization: basic(account), ...request.headers };
  const sent = { credentials: basicSecrets(account), secrets };
  return callHost(asked, account, { ...request, headers, sent }, described, refusal);
}

/** The header of a submit (P2 §4.1, §4.2). */
export function idempotencyHeader(token: string): Record<string, string> {
  return { "X-Evi-IdempotencyToken": token };
}

/** The only UUID of a body, apart from one that was sent: an id must not get lost with a broken answer. */
export function shownId(answer: HttpAnswer, sent?: string): string | undefined {
  const found =
    answer.body.toString("utf8").match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi) ?? [];
  const ids = new Set(
    found.map((id) => id.toLowerCase()).filter((id) => id !== sent?.toLowerCase()),
  );
  return ids.size === 1 ? [...ids][0] : undefined;
}
