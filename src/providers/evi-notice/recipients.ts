// The recipients of a batch: a CSV with `;` (P2 §2.9, §4.3).
import { z } from "zod";
import { empty, json, LONG_JSON_BYTES } from "../http/described.js";
import type { RawBody } from "../http/call.js";
import { capitalised, number, ours, text } from "../evi/members.js";
import type { EviNoticeAccount } from "./account.js";
import { gone } from "./batches.js";
import { call } from "./call.js";
import { checkLimit, page } from "./page.js";
import type { Page } from "./page.js";
import { RecipientAnswer, RecipientPage, routes } from "./wire.js";

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

const RecipientQuery = z.object({
  cursor: text,
  /** 1 to 1000. */
  limit: number,
  sortDirection: z.enum(["Ascending", "Descending"]).optional(),
});
type RecipientQuery = z.infer<typeof RecipientQuery>;

/** P2 §4.3, by the HTTP verb QUERY. 404 `notVisibleYet`; 400 `protocol`. */
export async function queryRecipients(
  account: EviNoticeAccount,
  { batchId, ...asked }: RecipientQuery & { batchId: string },
  signal?: AbortSignal,
): Promise<Page<BatchRecipient>> {
  checkLimit("queryRecipients", asked.limit);
  const body = capitalised(RecipientQuery, asked);
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

/** Without the answers to challenges, which are secret. */
function recipientOf(read: RecipientAnswer): BatchRecipient {
  return ours(RecipientAnswer, read, /challengeresponse$/i) as unknown as BatchRecipient;
}
