// Opens rows and parses each with the parser of its provider. An unreadable row is parked with the reason.
import { isUndecryptable } from "../../crypto/errors.js";
import { lacksKeyOf } from "../../crypto/hmac.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { parseJson, plainText } from "../../contracts/shared/text.js";
import { correlationMatches } from "../address.js";
import type { BodyOpener, ClaimedRow, Parked, Settlement, UnaddressedRow } from "./rows.js";
import { settleRows } from "./rows.js";

/** Parses callbacks to a process's own address. */
export type Parser = (body: unknown) => { event: ProviderEvent; correlation?: string };
export type Parsers = Record<string, Parser>;

/**
 * Parses callbacks to an account's address; `reference` names the process in the journal, `secret` what the event carries
 * for the process alone.
 */
export type Source = (
  account: string,
  body: unknown,
  receivedAt: Date,
) => { event: ProviderEvent; reference?: string | undefined; secret?: string };
export type Sources = Partial<Record<string, Source>>;

export interface Reader {
  bodies: BodyOpener;
  /** The callback keys. */
  ring: KeyRing;
  parsers: Parsers;
  sources: Sources;
}

/** Returns what the rows say that can be read, and parks the others. */
export async function readRows<R extends ClaimedRow | UnaddressedRow>(
  rows: R[],
  reader: Reader & { settle(rows: R[], settlement: Settlement): Promise<void> },
): Promise<{ row: R; said: ReturnType<Source> }[]> {
  const readable: { row: R; said: ReturnType<Source> }[] = [];
  const parked: { row: R; settlement: Parked }[] = [];
  for (const row of rows) {
    const said = read(row, reader);
    if ("event" in said) readable.push({ row, said });
    else parked.push({ row, settlement: said });
  }
  await settleRows(parked, reader.settle);
  return readable;
}

function read(
  row: ClaimedRow | UnaddressedRow,
  { bodies, ring, parsers, sources }: Reader,
): ReturnType<Source> | Parked {
  const { provider } = row;
  try {
    if (row.account !== null) {
      const source = ownOf(sources, provider);
      return (
        source?.(row.account, parseJson(bodies.open(row).toString()), row.receivedAt) ??
        unknownProvider
      );
    }
    const parser = ownOf(parsers, provider);
    if (parser === undefined) return unknownProvider;
    const { event, correlation } = parser(parseJson(bodies.open(row).toString()));
    const subject = { provider, namespace: row.namespace, workflowId: row.workflowId };
    if (correlation !== undefined && !correlationMatches(ring, subject, correlation))
      return mismatch(ring, correlation);
    return { event };
  } catch (error) {
    if (isUndecryptable(error)) return { state: "parked", reason: "undecryptable" };
    const detail = detailOf(error);
    return { state: "parked", reason: "unreadable", ...(detail && { detail }) };
  }
}

/** A relay that lacks a new key cannot check the value: its address has not leaked. */
function mismatch(ring: KeyRing, correlation: string): Parked {
  // Without the name, which may be any text of a forged callback.
  const detail = lacksKeyOf(ring, correlation) && {
    detail: "keys.callback of the relay lacks the key that it names",
  };
  return { state: "parked", reason: "correlationMismatch", ...detail };
}

/** Not `constructor` and the like: whoever has a callback key writes the provider's name into an address. */
function ownOf<T>(all: Partial<Record<string, T>>, provider: string): T | undefined {
  return Object.hasOwn(all, provider) ? all[provider] : undefined;
}

const unknownProvider: Parked = { state: "parked", reason: "unknownProvider" };

// A ProviderError has fixed words and field names; any other error may quote the body.
function detailOf(error: unknown): string | undefined {
  const { name, message } = error as { name?: unknown; message?: unknown };
  return name === "ProviderError" && typeof message === "string"
    ? plainText(message, 300)
    : undefined;
}
