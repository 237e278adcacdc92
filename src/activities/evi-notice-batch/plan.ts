// The check of a batch's input makes a plan, which has what every later activity of the batch needs. All of it is small: bodies, lists
// and attachments are documents.
import type {
  BatchRecipients,
  BatchSettings,
  SendNoticeBatchInput,
} from "../../contracts/send-notice-batch/contract.js";
import type { NoticeAttachment } from "../../contracts/send-notice/contract.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { BatchSettings as BatchFields } from "../../providers/evi-notice/client.js";

/** The list as it goes to the provider. */
export interface SentList {
  document: DocumentReference;
  recipients: number;
  /** `src/batch/recipients/address-digest.ts` makes it. */
  addressDigest: string;
  /** The list holds answers to challenges, which are secrets. */
  hasChallenges: boolean;
  /** No two recipients of the list may share it. */
  unique: NonNullable<SendNoticeBatchInput["uniqueRecipients"]>;
  /** It is part of the keys of `src/batch/recipients/own-key.ts`; absent where the recipients have no lookup keys of ours. */
  keyTag?: string;
}

export type BatchAttachment = NoticeAttachment & { document: DocumentReference };

export interface BatchPlan {
  environment: string;
  account: string;
  /** Fixed for the run. */
  settings: BatchSettings;
  /** Seconds from the start, or from `scheduledDate`. */
  deadlineSeconds: number;
  list: SentList;
  /** As the status and the result show it. */
  check: BatchRecipients;
  /** The caller's list, from which the report names what was left out. */
  given: DocumentReference;
  description?: string;
  /** HTML. */
  body: DocumentReference;
  attachments: BatchAttachment[];
  /** Holds what the caller set, and the filter of the callbacks; the address of the callbacks comes later. */
  fields: BatchFields;
  scheduledDate?: string;
  /** How many recipients may fail before a person decides (P2 §2.8 FailedCount). */
  allowedFailures: number;
}
