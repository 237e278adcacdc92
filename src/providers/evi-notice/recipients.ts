// The recipients of a batch: a CSV with `;` (P2 §2.9, §4.3).
import { empty, json, LONG_JSON_BYTES } from "../http/described.js";
import type { RawBody } from "../http/call.js";
import { others, present, renamed } from "../evi/members.js";
import type { EviNoticeAccount } from "./account.js";
import { gone } from "./batches.js";
import { call } from "./call.js";
import { checkLimit, page } from "./page.js";
import type { Page } from "./page.js";
import { RecipientPage, routes } from "./wire.js";
import type { RecipientAnswer } from "./wire.js";

/** P2 §2.9. */
export interface BatchRecipient {
  address: string;
  /** Of the notice that was made for the recipient, once there is one. */
  evidenceUniqueId?: string;
  /** The other columns and `ExtraFields`, untouched, but without the answers to challenges. */
  providerFields?: Record<string, unknown>;
}

/**
 * P2 §2.9, §4.3: the list goes up as it is: a Buffer is sent in place, a stream is read once. 409 `invalidRequest`: the list
 * failed validation; 400 the same: nothing in it, or another content type. Without an answer `unavailable`, effect unknown:
 * `queryRecipients` tells. `hasChallenges`: the list holds answers to challenges, so an error shows nothing of the provider's words.
 */
export async function addRecipients(
  account: EviNoticeAccount,
  {
    batchId,
    csv,
    bytes,
    hasChallenges,
  }: {
    batchId: string;
    csv: RawBody["content"];
    bytes?: number | undefined;
    hasChallenges: boolean;
  },
  signal?: AbortSignal,
): Promise<void> {
  const raw = { content: csv, mediaType: "text/csv", bytes };
  const ids = { BatchId: batchId };
  const request = { ...routes.addRecipients, ids, raw, isSecret: hasChallenges, signal };
  await call(account, "addRecipients", request, empty);
}

export interface RecipientQuery {
  batchId: string;
  cursor?: string | undefined;
  /** 1 to 1000. */
  limit?: number | undefined;
  sortDirection?: "Ascending" | "Descending" | undefined;
}

const queryFields = {
  cursor: "Cursor",
  limit: "Limit",
  sortDirection: "SortDirection",
} as const satisfies Record<Exclude<keyof RecipientQuery, "batchId">, string>;

/** P2 §4.3, by the HTTP verb QUERY. 404 `notVisibleYet`; 400 `protocol`. */
export async function queryRecipients(
  account: EviNoticeAccount,
  { batchId, ...asked }: RecipientQuery,
  signal?: AbortSignal,
): Promise<Page<BatchRecipient>> {
  checkLimit("queryRecipients", asked.limit);
  const body = renamed(queryFields, asked);
  const request = { ...routes.queryRecipients, ids: { BatchId: batchId }, json: body, signal };
  const members = { Results: ["Results"], Address: account.members.recipientAddress };
  const described = json(RecipientPage, {
    spelling: { members },
    isSecret: true,
    maxBytes: LONG_JSON_BYTES,
  });
  const { value } = await call(account, "queryRecipients", request, described);
  // A cursor may come with the last page too: then the next one is empty.
  return page(value.Results.length === 0 ? { Results: [] } : value, recipientOf);
}

/** P2 §4.3. 404 is success: they are gone. */
export async function deleteRecipients(
  account: EviNoticeAccount,
  { batchId }: { batchId: string },
  signal?: AbortSignal,
): Promise<void> {
  const request = { ...routes.deleteRecipients, ids: { BatchId: batchId }, signal };
  await gone(call(account, "deleteRecipients", request, empty));
}

const named = new Set(["Address", "EvidenceUniqueId"]);
/** The answers to challenges are secret. */
const namedOrSecret = {
  has: (name: string) => named.has(name) || /challengeresponse$/i.test(name),
};

function recipientOf(read: RecipientAnswer): BatchRecipient {
  return present({
    address: read.Address,
    evidenceUniqueId: read.EvidenceUniqueId || undefined,
    providerFields: others(read, namedOrSecret),
  }) as unknown as BatchRecipient;
}
