// `sendMessage` sends one message through the messaging gateway (P1 §1.3, 4.3). Its payload is not shown in the specification, so it is
// passed through as it is.
import { z } from "zod";
import { processResult } from "../shared/status.js";
import { AccountName, ProviderFields } from "../shared/values.js";
import { words } from "../shared/words.js";

export const SendMessageInput = z.strictObject({
  account: AccountName.optional(),
  providerFields: ProviderFields.refine(
    (fields) => Object.keys(fields).length > 0,
    "must hold the message",
  )
    .describe(
      "The whole message in the gateway's own form, which P1 §4.3 does not show; passed on unchanged.",
    )
    .meta({ examples: [{ to: "+390612345678", text: "Your parcel is on its way" }] }),
});
export type SendMessageInput = z.infer<typeof SendMessageInput>;

/** No status call is shown, so the outcome says no more than that the gateway took it (docs/reading-the-specification.md §7). */
export const SendMessageResult = processResult({
  process: z.literal("sendMessage"),
  outcome: words({
    accepted: "the gateway took the message; it reports no later status",
  }),
  dates: z.strictObject({}),
}).extend({
  providerAnswer: z
    .unknown()
    .optional()
    .describe("The gateway's answer, if that was JSON; the specification does not show its form."),
});
export type SendMessageResult = z.infer<typeof SendMessageResult>;
