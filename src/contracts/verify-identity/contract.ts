// `verifyIdentity` follows an identification by video call, from the call to its audit (P1 §1.2, 2.7, 4.2, 6.1). Nothing in the
// specification creates a conference, so its id is input.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { holdsJwt, isCredentialName } from "../shared/text.js";
import { askingSpans } from "../shared/communication.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import { AccountName, EmailAddress, Instant, ownLimit, ProviderId } from "../shared/values.js";

const Settings = z.strictObject(askingSpans);
export type VideoSettings = Resolved<typeof Settings>;

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
  /** P1 §2.7: the conference of the call. */
  idConference: ProviderId,
  /**
   * The call is asynchronous: the end of its request ends it too. `parameters`: the query, where it is not the conference's id.
   */
  asyncRequest: z
    .strictObject({ parameters: z.record(QueryName, QueryValue).optional() })
    .optional(),
  /** P1 §4.2, rules 1–4: who is told of failed callbacks. The process must be alone in using this `processId`. */
  alert: z
    .strictObject({
      processId: ProviderId,
      emails: AlertEmails.min(1),
      /**
       * The addresses that this `processId` has already, or none: they are told too, and alone again at the end, which undoes what others
       * register for it in between. Nothing reads them back, so without this the process removes no address at its end.
       */
      before: AlertEmails.optional(),
    })
    .optional(),
  /** Delete the audit at the provider once the stored copy has been checked. */
  deleteAudit: z.boolean().optional(),
  settings: Settings.optional(),
});
export type VerifyIdentityInput = z.infer<typeof VerifyIdentityInput>;

export const VerifyIdentityStatus = ProcessStatus;

/**
 * `verified`, `notVerified`: the provider's verdict; `closed`: the call has ended and no verdict is shown; `rejected`: by the update
 * `rejectCall`, or at the provider.
 */
export const VerifyIdentityResult = processResult({
  process: z.literal("verifyIdentity"),
  outcome: z.enum(["verified", "notVerified", "closed", "rejected", "openAtDeadline", "other"]),
  /** `endedAt`: when the process learned that the call has ended. */
  dates: z.strictObject({ endedAt: Instant.optional() }),
}).extend({
  /** Whether the audit was deleted at the provider. */
  auditDeleted: z.boolean(),
});
export type VerifyIdentityResult = z.infer<typeof VerifyIdentityResult>;
