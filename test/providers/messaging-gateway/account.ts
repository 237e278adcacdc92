// The account that the tests of the gateway's client use.
import { Secret } from "../../../src/contracts/shared/values.js";
import type { MessagingGatewayAccount } from "../../../src/providers/messaging-gateway/client.js";

export function accountAt(
  baseUrl: string,
  changes: Partial<MessagingGatewayAccount> = {},
): MessagingGatewayAccount {
  return {
    name: "default",
    baseUrl,
    username: "trustflow",
    password: new Secret("a password"),
    apiKey: new Secret("an-api-key"),
    timeoutMs: 5000,
    ...changes,
  };
}
