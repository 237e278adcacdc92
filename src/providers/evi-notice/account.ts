// An account of the notice API: its keys in the configuration, and the account as the client takes it (P2 §5).
import { z } from "zod";
import { names, sentAs, timeoutSeconds } from "../../config/account-fields.js";
import {
  accountSecret,
  baseUrl,
  flag,
  number,
  oneOf,
  section,
  username,
} from "../../config/fields.js";
import { jsonDigest } from "../../crypto/json-digest.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  timeoutSeconds,
  uploadTimeoutSeconds: number(
    300,
    "of one upload to a batch above 1 MB; may be above `journal.leaseSeconds`",
  ),
  /** Assumed: members of answers that P2 §2.7 does not show, each by the names that it may have. */
  members: section({
    id: names("Id", "UniqueId", "AffidavitId", "AttachmentId", "EvidenceId").describe(
      "list; assumed: the names of the id of a notice, an affidavit or an attachment",
    ),
    batchId: names("BatchId", "Id").describe("list; assumed: the names of a batch's id"),
    recipientAddress: names("Address", "RecipientAddress").describe(
      "list; assumed: the names of a recipient's address",
    ),
  }),
  /** Assumed: how the attachments of a submission are sent (P2 §2.6). */
  sent: section({
    attachments: sentAs("Attachments", "the member of a submission with its attachments"),
    content: sentAs("Content", "the member of an attachment with its content in base64"),
  }),
  /** Assumed: what P2 §2.9, §3.4 and §4.3 do not show of batches. */
  batch: section({
    ownLookupKeys: flag()
      .default(true)
      .describe(
        "whether each recipient of a batch gets a lookup key of the process's own beside yours, by which its notice is found",
      ),
    listPartRows: number(
      0,
      "recipients in one upload, only where the provider adds a second list to the first; `0`: all",
      0,
    ),
    startsBy: oneOf("both", "scheduledDate")
      .default("both")
      .describe(
        "assumed: `both`: `State` follows a `ScheduledDate` where the batch is still a draft; `scheduledDate`: the date goes alone",
      ),
    recipientsPage: number(1_000, "recipients in one page of a query, 1 to 1000", 1, 1_000),
    readsPerSecond: number(
      20,
      "how many reads of a batch's notices, and downloads of their affidavits, a worker makes a second",
    ),
  }),
});

export type BatchAssumptions = z.infer<typeof keys>["batch"];

/** `lookUpConfiguration` is a digest of the keys that decide which items a look-up finds. None of them is a secret. */
export function accountOf(
  { timeoutSeconds: seconds, uploadTimeoutSeconds, ...rest }: z.infer<typeof keys>,
  { name }: AccountSettings,
) {
  return {
    ...rest,
    name,
    timeoutMs: seconds * 1_000,
    uploadTimeoutMs: uploadTimeoutSeconds * 1_000,
    lookUpConfiguration: jsonDigest({ baseUrl: rest.baseUrl, username: rest.username }),
  };
}

export type EviNoticeAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, username: "sandbox", password: "sandbox" };
}
