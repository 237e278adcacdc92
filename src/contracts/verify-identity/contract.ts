// `verifyIdentity` follows an identification by video call, from the call to its audit (P1 §1.2, 2.7, 4.2, 6.1). Nothing in the
// specification creates a conference, so its id is input.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { holdsJwt, isCredentialName } from "../shared/text.js";
import { Flag, askingSpans, processSettings } from "../shared/communication.js";
import { processResult } from "../shared/status.js";
import { AccountName, EmailAddress, Instant, ownLimit, ProviderId } from "../shared/values.js";
import { words } from "../shared/words.js";

const VideoOptions = processSettings({
  ...askingSpans,
  deadlineSeconds: askingSpans.deadlineSeconds.describe(
    "Seconds from the start of the process after which a call that goes on ends it as `openAtDeadline`.",
  ),
});
export type VideoSettings = Resolved<typeof VideoOptions>;

/** P1 §5.2, rule 4: a credential is no query parameter. */
const QueryName = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,99}$/, "must be a name of letters, digits and . _ -")
  .refine((name) => !isCredentialName(name), {
    message: "must not be a credential: those travel in headers (P1 §5.2)",
  });
const QueryValue = z
  .string()
  .min(1)
  .max(500)
  .refine((value) => !holdsJwt(value), {
    message: "must not hold a token: those travel in headers (P1 §5.2)",
  });

/** P1 §4.2, rule 1. */
const AlertEmails = z.array(EmailAddress).max(...ownLimit(20));

export const VerifyIdentityInput = z.strictObject({
  account: AccountName.optional(),
  idConference: ProviderId.describe(
    "The provider's id of the conference, which exists already (P1 §2.7).",
  ).meta({ examples: ["conference-2026-0042"] }),
  asyncRequest: z
    .strictObject({
      parameters: z
        .record(QueryName, QueryValue)
        .optional()
        .describe(
          "The query parameters of the request, if it is not found by the id of the conference.",
        ),
    })
    .optional()
    .describe(
      "Given if the call is asynchronous: the end of its request ends the call too (P1 §4.2).",
    ),
  alert: z
    .strictObject({
      processId: ProviderId.describe(
        "The provider's process id; no other process may use it at the same time (P1 §2.7).",
      ),
      emails: AlertEmails.min(1).describe("The addresses that are told, 1 to 20."),
      before: AlertEmails.optional().describe(
        "The addresses that this `processId` has already, or none: they are told too, and are alone again at the end, which undoes what others register in between. Nothing reads them back, so without this the process removes no address at its end.",
      ),
    })
    .optional()
    .describe("Who is told of failed callbacks (P1 §4.2, rules 1–4)."),
  deleteAudit: Flag.optional().describe(
    "Whether the audit is deleted at the provider, once the stored copy is checked. Default: `false`.",
  ),
  settings: VideoOptions.optional(),
});
export type VerifyIdentityInput = z.infer<typeof VerifyIdentityInput>;

export const VerifyIdentityResult = processResult({
  process: z.literal("verifyIdentity"),
  outcome: words({
    verified: "the provider's verdict, where the account says where it stands",
    notVerified: "the provider's verdict, where the account says where it stands",
    closed: "the call has ended, and no verdict is known",
    rejected: "the call was rejected, by the update `rejectCall` or at the provider",
    openAtDeadline: "the deadline was reached, and the call is still open",
    other: "a word that Trustflow does not know; `providerOutcome` has it",
  }),
  dates: z.strictObject({
    endedAt: Instant.optional().describe("When the process learned that the call has ended."),
  }),
}).extend({
  auditDeleted: Flag.describe("Whether the audit was deleted at the provider."),
});
export type VerifyIdentityResult = z.infer<typeof VerifyIdentityResult>;
