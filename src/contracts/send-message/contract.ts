// `sendMessage` sends one message through the messaging gateway (P1 §1.3, 4.3). Its payload is not shown in the specification, so it is
// passed through as it is.
import { z } from "zod";
import { processResult, ProcessStatus } from "../shared/status.js";
import { AccountName, ProviderFields } from "../shared/values.js";

export const SendMessageInput = z.strictObject({
  account: AccountName.optional(),
  /** The whole request payload, untouched. */
  providerFields: ProviderFields.refine(
    (fields) => Object.keys(fields).length > 0,
    "must hold the message",
  ),
});
export type SendMessageInput = z.infer<typeof SendMessageInput>;

export const SendMessageStatus = ProcessStatus;

/** No status call is shown, so the outcome says no more than that the gateway took it (docs/reading-the-specification.md §7). */
export const SendMessageResult = processResult({
  process: z.literal("sendMessage"),
  outcome: z.literal("accepted"),
  dates: z.strictObject({}),
}).extend({
  /** Holds the gateway's answer, if that was JSON; its shape is not shown. */
  providerAnswer: z.unknown().optional(),
});
export type SendMessageResult = z.infer<typeof SendMessageResult>;
