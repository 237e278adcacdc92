// An account of the messaging gateway: its keys in the configuration, and the account as the client takes it (P1 §5.3).
import { z } from "zod";
import { timeoutSeconds } from "../../config/account-fields.js";
import { accountSecret, baseUrl, username } from "../../config/fields.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  apiKey: accountSecret().describe("secret; header `X-Api-Key` (P1 §5.3)"),
  timeoutSeconds,
});

export function accountOf(
  { timeoutSeconds: seconds, ...rest }: z.infer<typeof keys>,
  { name }: AccountSettings,
) {
  return { ...rest, name, timeoutMs: seconds * 1_000 };
}

export type MessagingGatewayAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, username: "sandbox", password: "sandbox", apiKey: "sandbox-api-key" };
}
