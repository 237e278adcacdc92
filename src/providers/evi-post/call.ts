// What every endpoint of the postal API shares: the request around its call.
import { basic, basicSecrets, call as callHost } from "../http/call.js";
import type { Answered, Request } from "../http/call.js";
import type { Described } from "../http/described.js";
import type { HttpAnswer } from "../http/exchange.js";
import type { EviPostAccount } from "./account.js";
import type { PostalOperation } from "./effects.js";
import { asking, refusal } from "./translate.js";

/** One HTTP call with the credentials of the account; throws for what is no described answer. `secrets`: what `json` carries in secret. */
export async function call<T>(
  account: EviPostAccount,
  operation: PostalOperation,
  { secrets = [], ...request }: Request & { secrets?: readonly string[] },
  described: Described<T>,
): Promise<Answered<T>> {
  const headers = {
    accept: "application/json, application/zip",
    authorization: basic(account),
    ...request.headers,
  };
  const sent = { credentials: basicSecrets(account), secrets };
  return callHost(asking(operation), account, { ...request, headers, sent }, described, (answer) =>
    refusal(operation, answer),
  );
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
