// One communication as a query shows it (P2 §2.5): camelCase, dates in UTC, absent instead of null.
import { ours } from "../evi/members.js";
import { isPdf } from "../http/pdf.js";
import { Address, Affidavit, ResultItem } from "./wire.js";

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

/** Undefined where an embedded affidavit is no PDF. */
export function postalItem({ affidavits, address, ...read }: ResultItem): PostalItem | undefined {
  const listed = affidavits?.map(affidavitOf);
  if (listed?.includes(undefined)) return undefined;
  return {
    ...ours(ResultItem, read),
    ...(address && { address: ours(Address, address) }),
    ...(listed && { affidavits: listed }),
  } as unknown as PostalItem;
}

function affidavitOf({ bytes: base64, ...read }: Affidavit): PostalAffidavit | undefined {
  const bytes = typeof base64 === "string" ? Buffer.from(base64, "base64") : undefined;
  if (bytes !== undefined && !isPdf(bytes)) return undefined;
  const affidavit = { ...ours(Affidavit, read), ...(bytes && { bytes }) };
  return affidavit as unknown as PostalAffidavit;
}
