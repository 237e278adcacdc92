// One callback in the form that processes use: the shared envelope of P2 §2.11–2.12, reduced to the needed fields.
import { z } from "zod";
import { Instant } from "./values.js";

const Said = z.string().optional();

/** A callback says it about the communication and about its reader (P2 §2.11, §2.12). Nothing confirms it. Personal data. */
export const EventAbout = z.strictObject({
  site: Said,
  owner: Said,
  ownerEmail: Said,
  sender: Said,
  recipient: Said,
  from: Said,
  to: Said,
  source: Said,
  destination: Said,
  subject: Said,
  lookupKey: Said,
  creationDate: Instant.optional(),
  progress: z.union([z.string(), z.number()]).optional(),
  /** These are the reader's: `Received` and `Read` of a notice have them, if the provider has. */
  ipAddress: Said,
  browserData: Said,
  userLanguages: Said,
  userIdentity: Said,
  userAgent: Said,
});
export type EventAbout = z.infer<typeof EventAbout>;

export const ProviderEvent = z.strictObject({
  /** `Identifier`: one per event, the same across its retries (P2 §6.4). */
  id: z.string().min(1),
  /** `Kind`, as the provider spells it. */
  kind: z.string().min(1),
  /** `Date` in UTC: the time of the event, not a sequence number (P2 §6.4). */
  at: Instant,
  /** `EvidenceId`: the transaction. */
  evidenceId: z.string().optional(),
  /** `AdditionalData.State`. */
  state: z.string().optional(),
  /** `AdditionalData.Outcome`, on `Closed`. */
  outcome: z.string().optional(),
  /** Free text of the event (`Details`, `TransmissionDetails`, `Description` …), cut to 300 bytes. */
  note: z.string().optional(),
  about: EventAbout.optional(),
  /** On `AffidavitPublished`. */
  affidavit: z
    .strictObject({
      id: z.string(),
      name: z.string().optional(),
      kind: z.string().optional(),
      requestId: z.string().optional(),
      regenerated: z.literal(true).optional(),
    })
    .optional(),
});
export type ProviderEvent = z.infer<typeof ProviderEvent>;

/** The largest event as JSON in UTF-8; the parsers never produce a larger one (docs/decisions/0020). */
export const MAX_EVENT_BYTES = 12_000;
