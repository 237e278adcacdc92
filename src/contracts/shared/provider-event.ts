// One callback in the form that processes use: the shared envelope of P2 §2.11–2.12, reduced to the needed fields.
import { z } from "zod";
import { Instant } from "./values.js";

const said = (what: string) => z.string().optional().describe(what);

/** A callback says it about the communication and about its reader (P2 §2.11, §2.12). Nothing confirms it. Personal data. */
export const EventAbout = z.strictObject({
  site: said("The name of the issuer's site."),
  owner: said("The name of the site's user."),
  ownerEmail: said("The e-mail address of the issuer's account."),
  sender: said("The sender of a postal communication."),
  recipient: said("The recipient of a postal communication."),
  from: said("The sender of a mail or notice."),
  to: said("The recipient of a mail or notice."),
  source: said("The sender of an SMS."),
  destination: said("The name or number of the recipient of an SMS."),
  subject: said("The subject."),
  lookupKey: said("The lookup key."),
  creationDate: Instant.optional().describe("When the item was created, RFC 3339 in UTC."),
  progress: z
    .union([z.string(), z.number()])
    .optional()
    .describe("`Progress` of the delivery, as the provider says it."),
  ipAddress: said("The reader's IP address: `Received` and `Read` of a notice have it, if known."),
  browserData: said("The reader's browser, if known."),
  userLanguages: said("The reader's languages, if known."),
  userIdentity: said("The reader's identity, if known."),
  userAgent: said("The reader's user agent, if known."),
});
export type EventAbout = z.infer<typeof EventAbout>;

export const ProviderEvent = z.strictObject({
  id: z
    .string()
    .min(1)
    .describe("`Identifier`: one per event, the same across its retries (P2 §6.4)."),
  kind: z.string().min(1).describe("`Kind`, as the provider spells it."),
  at: Instant.describe("`Date` in UTC: the time of the event, not a sequence number (P2 §6.4)."),
  evidenceId: said("`EvidenceId`: the transaction."),
  state: said("`AdditionalData.State`."),
  outcome: said("`AdditionalData.Outcome`, on `Closed`."),
  note: said(
    "Free text of the event (`Details`, `TransmissionDetails`, `Description` …), cut to 300 bytes.",
  ),
  about: EventAbout.optional().describe(
    "What the callback says of the item and of its reader. Personal data.",
  ),
  affidavit: z
    .strictObject({
      id: z.string().describe("`AffidavitId`."),
      name: said("`AffidavitName`."),
      kind: said("`AffidavitKind`, of a mail."),
      requestId: said("`RequestId`, of an affidavit on demand."),
      regenerated: z
        .literal(true)
        .optional()
        .describe("`Regenerated`: the provider made the affidavit again."),
    })
    .optional()
    .describe("The affidavit of `AffidavitPublished` (P2 §2.12)."),
});
export type ProviderEvent = z.infer<typeof ProviderEvent>;

/** The largest event as JSON in UTF-8; the parsers never produce a larger one (docs/decisions/0020). */
export const MAX_EVENT_BYTES = 12_000;
