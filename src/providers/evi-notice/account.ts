// An account of the notice API: its keys in the configuration, and the account as the client takes it (P2 §5).
import { z } from "zod";
import { names, timeoutSeconds } from "../../config/account-fields.js";
import { accountSecret, baseUrl, flag, plain, text, username, whole } from "../../config/fields.js";
import { jsonDigest } from "../../crypto/json-digest.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  timeoutSeconds,
  /** Limits one upload to a batch that is larger than 1 MB: its list of recipients, or an attachment. */
  uploadTimeoutSeconds: whole(1).default(300),
  /** Assumed: members of answers that P2 §2.7 does not show, each by the names that it may have. */
  members: z
    .strictObject({
      /** A notice has it, and so have its affidavits and its attachments. */
      id: names("Id", "UniqueId", "AffidavitId", "AttachmentId", "EvidenceId"),
      batchId: names("BatchId", "Id"),
      recipientAddress: names("Address", "RecipientAddress"),
    })
    .prefault({}),
  /** Assumed: how the attachments of a submission are sent (P2 §2.6). */
  sent: z
    .strictObject({
      attachments: text().default("Attachments"),
      content: text().default("Content"),
    })
    .prefault({}),
  /** Assumed: what P2 §2.9, §3.4 and §4.3 do not show of batches. */
  batch: z
    .strictObject({
      /** Whether each recipient gets a lookup key of ours beside the caller's, by which its notice is found. */
      ownLookupKeys: flag().default(true),
      /** How many recipients go up in one call, where a second list is added to the first; 0: all of them. */
      listPartRows: whole().default(0),
      /** By which members a batch starts that has a `ScheduledDate`: by `State` too, or by the date alone. */
      startsBy: z.preprocess(plain, z.enum(["both", "scheduledDate"])).default("both"),
      /** Recipients in one page of a query. */
      recipientsPage: whole(1, 1_000).default(1_000),
      /** Limits the reads of one worker: of notices, and of their affidavits. */
      readsPerSecond: whole(1).default(20),
    })
    .prefault({}),
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
