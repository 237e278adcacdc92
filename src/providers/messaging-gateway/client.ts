// temporary
import type { Secret } from "../../contracts/values.js";
import { jsonOf, meaningOf, refused } from "../answer.js";
import { basic, call } from "../call.js";
import type { Host } from "../call.js";
export interface MessagingGatewayAccount extends Host {
  name: string;
  username: string;
  password: Secret;
  apiKey: Secret;
}
export async function send(
  account: MessagingGatewayAccount,
  payload: object,
  signal?: AbortSignal,
): Promise<{ answer?: unknown }> {
  const asked = { provider: "messaging-gateway", operation: "send" } as const;
  const answer = await call(
    asked,
    account,
    {
      method: "POST",
      path: "/api/services/send",
      json: payload,
      headers: { authorization: basic(account), "x-api-key": account.apiKey.reveal() },
      signal,
    },
    (a) => refused(asked, a, meaningOf(asked, a.status)),
  );
  const json = jsonOf(answer.body);
  return json === undefined ? {} : { answer: json };
}
