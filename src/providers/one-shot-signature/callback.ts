// The webhook (P1 §1.4). Its configuration and payload are not shown (P1 §6.2).
import { accountCallback } from "../account-callback.js";
import { defaultWebhookPointer } from "./account.js";

export const parseAccountCallback = accountCallback<{ webhookPointer: string }>({
  pointerOf: (account) => account?.webhookPointer ?? defaultWebhookPointer,
  kind: "webhook",
});
