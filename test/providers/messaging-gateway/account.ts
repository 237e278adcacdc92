// The account that the tests of the gateway's client use, and one call of its operation.
import { defaultAccount } from "../default-account.js";
import type { Say } from "../default-account.js";
import { send } from "../../../src/providers/messaging-gateway/client.js";
import type { MessagingGatewayAccount } from "../../../src/providers/messaging-gateway/client.js";

export function accountAt(
  baseUrl: string,
  changes: Partial<MessagingGatewayAccount> = {},
): MessagingGatewayAccount {
  return {
    ...defaultAccount("messaging-gateway", {
      baseUrl,
      username: "trustflow",
      password: "a password",
      apiKey: "an-api-key",
    }),
    ...changes,
  };
}

export const callsWith = (say: Say = (text) => text) => ({
  send: (account: MessagingGatewayAccount) => send(account, { [say("text")]: say("hello") }),
});
export const calls = callsWith();
