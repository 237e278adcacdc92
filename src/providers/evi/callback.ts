// The callback envelope that mail, notice, SMS, postal and signing share (P2 §2.11, §2.12), reduced to a ProviderEvent.
// Callbacks are unauthenticated (P2 §5): identity is read strictly, everything else loosely.
import { z } from "zod";
import type { EventAbout, ProviderEvent } from "../../contracts/shared/provider-event.js";
import { plainText } from "../../contracts/shared/text.js";
import { ProviderError } from "../errors/provider-error.js";
import { utcInstant } from "../http/instant.js";
import type { ProcessCallbackParser } from "../provider-entry.js";
import { eventIdOf, PlainId, textOf, Word } from "../errors/outside.js";

const NAME_BYTES = 200;
/** Absent, null, empty or of another type: not said. */
const loose = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

/** A number is read as a query reads it, so that both name the same affidavit. */
const ItemId = z.union([PlainId, z.int().transform(String)]);

const AdditionalData = z.object({
  State: loose(Word),
  Outcome: loose(Word),
  ExtraData: loose(z.string().min(1)),
  AffidavitId: loose(ItemId),
  AffidavitName: loose(textOf(NAME_BYTES)),
  AffidavitKind: loose(Word),
  RequestId: loose(ItemId),
  Regenerated: loose(z.union([z.boolean(), z.string()])),
});

const Envelope = z.object({
  Identifier: z.string().min(1).max(500).transform(eventIdOf),
  Kind: Word,
  Date: z.string(),
  EvidenceId: loose(PlainId),
  EvidenceType: loose(z.string().min(1)),
  EvidenceState: loose(Word),
  AdditionalData: loose(z.record(z.string(), z.unknown())),
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
/** Each stands in every status and in the result. */
const NOTE_BYTES = 300;

type Member = Exclude<keyof EventAbout, "creationDate">;
/** P2 §2.11. */
const ENVELOPE_MEMBERS = { site: "Site", owner: "Owner", ownerEmail: "OwnerEmail" } as const;
/** P2 §2.12. */
const DATA_MEMBERS = {
  sender: "Sender",
  recipient: "Recipient",
  from: "From",
  to: "To",
  source: "Source",
  destination: "Destination",
  subject: "Subject",
  lookupKey: "LookupKey",
  progress: "Progress",
  ipAddress: "IpAddress",
  browserData: "BrowserData",
  userLanguages: "UserLanguages",
  userIdentity: "UserIdentity",
  userAgent: "UserAgent",
} as const satisfies Record<Exclude<Member, keyof typeof ENVELOPE_MEMBERS>, string>;
/** Names of browsers are long. */
const BROWSER_BYTES = 400;
const LONG = new Set(["browserData", "userAgent"]);

/**
 * P2 §2.11–2.12, §6.3. Throws ProviderError `protocol` (naming the field, never its value) where `Identifier`, `Kind` or
 * `Date` cannot be read, or where `EvidenceType` is another service's.
 */
export function parseEnvelope(
  provider: string,
  evidenceTypes: readonly string[],
  body: unknown,
): ReturnType<ProcessCallbackParser> {
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
  const event: ProviderEvent = {
    id: Identifier,
    kind: Kind,
    at,
    evidenceId: EvidenceId,
    state: data.State ?? EvidenceState,
    outcome: data.Outcome,
    note: noteOf(raw),
    about: aboutOf(body as object, raw),
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
    name: AffidavitName,
    kind: AffidavitKind,
    requestId: RequestId,
    regenerated: String(Regenerated).toLowerCase() === "true" ? true : undefined,
  };
}

function noteOf(data: Record<string, unknown>): string | undefined {
  const texts = NOTE_MEMBERS.map((member) => lineOf(data[member])).filter((text) => text !== "");
  return texts.length === 0 ? undefined : plainText(texts.join(": "), NOTE_BYTES);
}

function aboutOf(envelope: object, data: Record<string, unknown>): EventAbout | undefined {
  const created = utcInstant(data["CreationDate"]);
  const progress = data["Progress"];
  const about: EventAbout = {
    ...textsOf(ENVELOPE_MEMBERS, envelope),
    ...textsOf(DATA_MEMBERS, data),
    ...(typeof progress === "number" && Number.isFinite(progress) && { progress }),
    ...(created !== undefined && { creationDate: created }),
  };
  return Object.keys(about).length === 0 ? undefined : about;
}

/** The values of `names`' keys, each in one line; without what is not said. */
function textsOf(names: Record<string, string>, said: object): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [member, name] of Object.entries(names)) {
    if (!Object.hasOwn(said, name)) continue;
    const text = lineOf((said as Record<string, unknown>)[name]);
    const short = plainText(text, LONG.has(member) ? BROWSER_BYTES : NAME_BYTES);
    if (short !== "") texts[member] = short;
  }
  return texts;
}

/** One line; of what is no text, its JSON. */
function lineOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return plainText(text).replaceAll(/\s+/g, " ").trim();
}

function unreadable(provider: string, fieldNames: string[]): ProviderError {
  return new ProviderError({
    kind: "protocol",
    effect: "none",
    provider,
    operation: "callback",
    problem: "the callback is unreadable",
    fields: [...new Set(fieldNames)].map((fieldName) => ({ fieldName: fieldName || "body" })),
  });
}
