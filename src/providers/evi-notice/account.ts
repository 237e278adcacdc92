// An account of the notice API: its keys in the configuration, and the account as the client takes it (P2 §5).
import { z } from "zod";
import { names, timeoutSeconds } from "../../config/account-fields.js";
import { accountSecret, baseUrl, text, username } from "../../config/fields.js";
import type { Secret } from "../../contracts/shared/values.js";
import { jsonDigest } from "../../crypto/json-digest.js";
import type { Host } from "../http/call.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";
import type { assumed } from "./wire.js";

export interface EviNoticeAccount extends Host {
  name: string;
  username: string;
  password: Secret;
  /** Of each member of an answer the names that it may have. */
  members: Record<keyof typeof assumed.members, readonly string[]>;
  /** By which name something is sent. */
  sent: Record<keyof typeof assumed.sent, string>;
}

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  timeoutSeconds,
  /** Assumed: members of answers that P2 §2.7 does not show, each by the names that it may have. */
  members: z
    .strictObject({
      /** Of a notice, its affidavits and its attachments. */
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
});

/** `lookUpConfiguration` is a digest of the keys that decide which items a look-up finds. None of them is a secret. */
export function accountOf(
  { timeoutSeconds: seconds, ...rest }: z.infer<typeof keys>,
  { name }: AccountSettings,
) {
  return {
    ...rest,
    name,
    timeoutMs: seconds * 1_000,
    lookUpConfiguration: jsonDigest({ baseUrl: rest.baseUrl, username: rest.username }),
  };
}

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, username: "sandbox", password: "sandbox" };
}
