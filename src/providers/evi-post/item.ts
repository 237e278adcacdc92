// One communication as a query shows it (P2 §2.5): camelCase, dates in UTC, absent instead of null.
import { others, present } from "../evi/members.js";
import { utcInstant } from "../http/instant.js";
import { isPdf } from "../http/pdf.js";
import type { ResultItem } from "./wire.js";

export interface PostalAffidavit {
  uniqueId: string;
  date?: string;
  evidenceUniqueId?: string;
  description?: string;
  /** The PDF; only with the deprecated blob option. */
  bytes?: Buffer;
}

export interface PostalItem {
  evidenceId: string;
  /** P2 §3.1; one that the specification does not name passes through. */
  state: string;
  outcome?: string;
  lookupKey?: string;
  recipientName?: string;
  address?: Partial<
    Record<"streetAddress" | "postalCode" | "locality" | "region" | "country", string>
  >;
  stateDate?: string;
  lastStateChangeDate?: string;
  outcomeDate?: string;
  creationDate?: string;
  submittedOn?: string;
  processedOn?: string;
  sentOn?: string;
  /** Unit not shown (P2 §2.5): never compute with it. */
  timeToLive?: number;
  costCentre?: string;
  /** Present when asked for, perhaps empty. */
  affidavits?: PostalAffidavit[];
  /** Members of the answer that P2 §2.5 does not name, untouched. */
  providerFields?: Record<string, unknown>;
}

const DATES = [
  "stateDate",
  "lastStateChangeDate",
  "outcomeDate",
  "creationDate",
  "submittedOn",
  "processedOn",
  "sentOn",
] as const;
const NAMED = new Set<string>([
  ...DATES,

  "evidenceId",
  "state",
  "outcome",
  "lookupKey",
  "recipientName",
  "address",
  "timeToLive",
  "costCentre",

  "affidavits",
]);

/** Undefined where an embedded affidavit is no PDF. */
export function postalItem(read: ResultItem): PostalItem | undefined {
  const affidavits = read.affidavits?.map(affidavitOf);
  if (affidavits?.includes(undefined)) return undefined;
  const { streetAddress, postalCode, locality, region, country } = read.address ?? {};
  const address = present({ streetAddress, postalCode, locality, region, country });
  return present({
    evidenceId: read.evidenceId,
    state: read.state,
    outcome: read.outcome,
    lookupKey: read.lookupKey ?? undefined,
    recipientName: read.recipientName,
    address: read.address && address,
    ...Object.fromEntries(DATES.map((name) => [name, utcInstant(read[name])])),
    timeToLive: read.timeToLive,
    costCentre: read.costCentre,
    affidavits,
    providerFields: others(read, NAMED),
  }) as unknown as PostalItem;
}

function affidavitOf(
  read: NonNullable<ResultItem["affidavits"]>[number],
): PostalAffidavit | undefined {
  const { uniqueId, date, evidenceUniqueId, description } = read;
  const bytes = typeof read.bytes === "string" ? Buffer.from(read.bytes, "base64") : undefined;
  if (bytes !== undefined && !isPdf(bytes)) return undefined;
  return present({
    uniqueId,
    date: utcInstant(date),
    evidenceUniqueId,
    description,
    bytes,
  }) as unknown as PostalAffidavit;
}
