// The recipients of a batch go up as a CSV with `;` (P2 §2.9, §4.3).
import { z } from "zod";
import { empty, json, LONG_JSON_BYTES } from "../http/described.js";
import type { RawBody } from "../http/call.js";
import { capitalised, number, ours, text } from "../evi/members.js";
import { deletion, nothing, onBatch } from "./call.js";
import { checkLimit, page } from "./page.js";
import { RecipientAnswer, RecipientPage } from "./wire.js";

/** P2 §2.9. */
export interface BatchRecipient {
  address: string;
  /** It is there once a notice was made for the recipient. */
  evidenceUniqueId?: string;
  /** The other columns and `ExtraFields`, untouched, but without the answers to challenges. */
  providerFields?: Record<string, unknown>;
}

interface RecipientList {
  csv: RawBody["content"];
  bytes?: number | undefined;
  hasChallenges: boolean;
}

/**
 * P2 §2.9, §4.3: the list goes up as it is: a Buffer is sent in place, a stream is read once. 409 `invalidRequest`: the list
 * failed validation; 400 the same: nothing in it, or another content type. Without an answer `unavailable`, effect unknown:
 * `queryRecipients` tells. `hasChallenges`: the list holds answers to challenges, so an error shows nothing of the provider's words.
 */
export const addRecipients = onBatch(
  "addRecipients",
  ({ csv, bytes, hasChallenges }: RecipientList) => ({
    raw: { content: csv, mediaType: "text/csv", bytes },
    isSecret: hasChallenges,
  }),
  () => empty,
  nothing,
);

const RecipientQuery = z.object({
  cursor: text,
  /** 1 to 1000. */
  limit: number,
  sortDirection: z.enum(["Ascending", "Descending"]).optional(),
});
type RecipientQuery = z.infer<typeof RecipientQuery>;

/** P2 §4.3, by the HTTP verb QUERY. 404 `notVisibleYet`; 400 `protocol`. */
export const queryRecipients = onBatch(
  "queryRecipients",
  (asked: RecipientQuery) => {
    checkLimit("queryRecipients", asked.limit);
    return { json: capitalised(RecipientQuery, asked) };
  },
  ({ members: { recipientAddress } }) =>
    json(RecipientPage, {
      spelling: { members: { Results: ["Results"], Address: recipientAddress } },
      isSecret: true,
      maxBytes: LONG_JSON_BYTES,
    }),
  // A cursor may come with the last page too: then the next one is empty.
  (value) => page(value.Results.length === 0 ? { Results: [] } : value, recipientOf),
);

/** P2 §4.3. */
export const deleteRecipients = deletion("deleteRecipients");

/** Without the answers to challenges, which are secret. */
function recipientOf(read: RecipientAnswer): BatchRecipient {
  return ours(RecipientAnswer, read, /challengeresponse$/i) as unknown as BatchRecipient;
}
