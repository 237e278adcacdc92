// Opens a row and parses it with the parser of its provider. An unreadable row is parked with the reason.
import { isLocked } from "../../crypto/errors.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { plainText } from "../../contracts/shared/text.js";
import { correlationMatches } from "../address.js";
import { parseBody } from "./body.js";
import type { Inbox } from "./inbox.js";
import type { ClaimedRow, Parked, UnaddressedRow } from "./rows.js";

/** Parses callbacks to a process's own address. */
export type Parser = (body: unknown) => { event: ProviderEvent; correlation?: string };
export type Parsers = Record<string, Parser>;

/**
 * Parses callbacks to an account's address; `reference` is the key of the journal's correlations, `secret` what the event carries
 * for the process alone.
 */
export type Source = (
  account: string,
  body: unknown,
  receivedAt: Date,
) => { event: ProviderEvent; reference?: string | undefined; secret?: string };
export type Sources = Partial<Record<string, Source>>;

export interface Reader {
  inbox: Inbox;
  /** The callback keys. */
  ring: KeyRing;
  parsers: Parsers;
  sources: Sources;
}

export function read(
  row: ClaimedRow | UnaddressedRow,
  { inbox, ring, parsers, sources }: Reader,
): ReturnType<Source> | Parked {
  const { provider } = row;
  try {
    if (row.account !== null) {
      const source = sources[provider];
      return source?.(row.account, parseBody(inbox.open(row)), row.receivedAt) ?? unknownProvider;
    }
    const parser = parsers[provider];
    if (parser === undefined) return unknownProvider;
    const { event, correlation } = parser(parseBody(inbox.open(row)));
    const subject = { provider, namespace: row.namespace, workflowId: row.workflowId };
    if (correlation !== undefined && !correlationMatches(ring, subject, correlation))
      return { state: "parked", reason: "correlationMismatch" };
    return { event };
  } catch (error) {
    if (isLocked(error)) return { state: "parked", reason: "undecryptable" };
    const detail = detailOf(error);
    return { state: "parked", reason: "unreadable", ...(detail && { detail }) };
  }
}

const unknownProvider: Parked = { state: "parked", reason: "unknownProvider" };

// A ProviderError has fixed words and field names; any other error may quote the body.
function detailOf(error: unknown): string | undefined {
  const { name, message } = error as { name?: unknown; message?: unknown };
  return name === "ProviderError" && typeof message === "string"
    ? plainText(message, 300)
    : undefined;
}
