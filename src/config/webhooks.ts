// The endpoints of webhooks (docs/webhooks.md).
import { z } from "zod";
import { processEventTypes } from "../contracts/process-event.js";
import { flag, listOf, secret, tableName, url } from "./fields.js";

const Webhook = z.strictObject({
  url: url().describe(
    "where the relay sends [webhooks](../webhooks.md); `https` outside the sandbox. Relay",
  ),
  secret: secret().describe(
    "secret; `whsec_…`, by which they are signed: what `trustflow webhooks secret` prints. Relay",
  ),
  previousSecret: secret()
    .optional()
    .describe("secret; the one before, while the receiver may still have it: it signs too. Relay"),
  events: listOf(z.enum(processEventTypes), 1)
    .default([...processEventTypes])
    .describe("list; the events that are sent there. Relay"),
  allowPrivate: flag()
    .default(false)
    .describe(
      "whether the host may have an address of this machine or of a private network. Relay",
    ),
});

export const Webhooks = z.record(tableName, Webhook).default({});
export type Webhooks = z.infer<typeof Webhooks>;
