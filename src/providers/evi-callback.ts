// The callback envelope that mail, notice, SMS, postal and signing share (P2 §2.11, §2.12), reduced to a ProviderEvent.
// Callbacks are unauthenticated claims (P2 §5): identity is read strictly, everything else loosely.
import { z } from "zod";
import type { ProviderEvent } from "../contracts/provider-event.js";
import { ProviderError } from "./errors.js";
import { utcInstant } from "./instant.js";

const Identity = z.string().min(1).max(500);
const Word = z.string().min(1).max(100);
/** Absent, null, empty or of another type: not said. */
const loose = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

const AdditionalData = z.object({
  State: loose(Word),
  Outcome: loose(Word),
  ExtraData: loose(z.string().min(1)),
  AffidavitId: loose(Identity),
  AffidavitName: loose(Identity),
  AffidavitKind: loose(Word),
  RequestId: loose(Identity),
  Regenerated: loose(z.union([z.boolean(), z.string()])),
});

const Envelope = z.object({
  Identifier: Identity,
  Kind: Word,
  Date: z.string(),
  EvidenceId: loose(Identity),
  EvidenceType: loose(z.string()),
  EvidenceState: loose(Word),
  AdditionalData: z.record(z.string(), z.unknown()).nullish(),
});

const NOTE_MEMBERS = [
  "Kind",
  "Comments",
  "OutcomeDescription",
  "Details",
  "TransmissionDetails",
  "XmissionDetails",
  "Description",
];
const NOTE_CHARACTERS = 300;

export interface ProviderCallback {
  event: ProviderEvent;
  /** `ExtraData`: the echo of `PushNotificationExtraData`, a consistency check (P2 §5). */
  correlation?: string;
}

/**
 * P2 §2.11–2.12, §6.3. Throws ProviderError `protocol` (naming the field, never its value) where `Identifier`, `Kind` or
 * `Date` cannot be read, or where `EvidenceType` is another service's.
 */
export function parseEnvelope(
  provider: string,
  evidenceTypes: readonly string[],
  body: unknown,
): ProviderCallback {
  const read = Envelope.safeParse(body);
  if (!read.success)
    throw unreadable(
      provider,
      read.error.issues.map((issue) => issue.path.join(".")),
    );
  const { Identifier, Kind, EvidenceId, EvidenceType, EvidenceState } = read.data;
  const at = utcInstant(read.data.Date);
  if (at === undefined) throw unreadable(provider, ["Date"]);
  const known = evidenceTypes.map((type) => type.toLowerCase());
  if (EvidenceType !== undefined && !known.includes(EvidenceType.toLowerCase()))
    throw unreadable(provider, ["EvidenceType"]);

  const raw = read.data.AdditionalData ?? {};
  const data = AdditionalData.parse(raw);
  const state = data.State ?? EvidenceState;
  const note = noteOf(raw);
  const event: ProviderEvent = {
    id: Identifier,
    kind: Kind,
    at,
    ...(EvidenceId === undefined ? {} : { evidenceId: EvidenceId }),
    ...(state === undefined ? {} : { state }),
    ...(data.Outcome === undefined ? {} : { outcome: data.Outcome }),
    ...(note === undefined ? {} : { note }),
  };
  if (Kind === "AffidavitPublished" && data.AffidavitId !== undefined)
    event.affidavit = affidavitOf(data);
  return data.ExtraData === undefined ? { event } : { event, correlation: data.ExtraData };
}

function affidavitOf(
  data: z.infer<typeof AdditionalData>,
): NonNullable<ProviderEvent["affidavit"]> {
  const { AffidavitId = "", AffidavitName, AffidavitKind, RequestId, Regenerated } = data;
  return {
    id: AffidavitId,
    ...(AffidavitName === undefined ? {} : { name: AffidavitName }),
    ...(AffidavitKind === undefined ? {} : { kind: AffidavitKind }),
    ...(RequestId === undefined ? {} : { requestId: RequestId }),
    ...(String(Regenerated).toLowerCase() === "true" ? { regenerated: true as const } : {}),
  };
}

function noteOf(data: Record<string, unknown>): string | undefined {
  const texts = NOTE_MEMBERS.map((member) => data[member])
    .filter((value) => value !== undefined && value !== null)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .map((text) => text.replaceAll(/\s+/g, " ").trim())
    .filter((text) => text !== "");
  if (texts.length === 0) return undefined;
  return Array.from(texts.join(": ")).slice(0, NOTE_CHARACTERS).join("");
}

function unreadable(provider: string, fieldNames: string[]): ProviderError {
  return new ProviderError({
    kind: "protocol",
    effect: "none",
    provider,
    operation: "callback",
    problem: "the callback cannot be read",
    fields: [...new Set(fieldNames)].map((fieldName) => ({ fieldName: fieldName || "body" })),
  });
}
