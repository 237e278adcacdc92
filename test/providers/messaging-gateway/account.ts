// The account that the tests of the gateway's client use.
import { defaultAccount } from "../default-account.js";
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
