// `sendNoticeBatch` sends one notice to each recipient of a list, from the check of the list to a report about each of them (P2 §2.8–2.10,
// §3.3, §3.4, §4.3).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { batchOutcomes } from "./states.js";
import {
  attachmentNamesDiffer,
  NoticeAffidavitRequest,
  SendNoticeInput,
} from "../send-notice/contract.js";
import { belongsToProcess, seconds, trackingSpans } from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  DocumentReference,
  Instant,
  ownLimit,
} from "../shared/values.js";

const Text = z.string().min(1);
const Texts = z.array(Text).max(...ownLimit(100));
const Count = z.int().min(0);
/** By a word of the provider's, or by `other`. */
const CountByWord = z.record(z.string(), Count);

const notice = SendNoticeInput.shape;

/** P2 §8. */
const MAX_DESCRIPTION = 255;

export const BatchSettings = z.strictObject({
  /** The deadline counts from the start, or from `scheduledDate`. */
  ...trackingSpans,
  /** Added to `timeToLive`, where `deadlineSeconds` is not given. */
  deadlineMarginSeconds: seconds.optional(),
  /** How often the provider is asked how far the batch is. */
  progressIntervalSeconds: seconds.min(1).optional(),
  /**
   * So many recipients may fail, or so many of a hundred, whichever is more: left out by the check of the list, or reported as
   * failed by the provider. More of them make the process wait for an operator's decision.
   */
  failureBudgetCount: Count.optional(),
  failureBudgetPercent: z.int().min(0).max(100).optional(),
  /** Whether the affidavits of all notices are collected into one archive. */
  collectAffidavits: z.boolean().optional(),
});
export type BatchSettings = Resolved<typeof BatchSettings>;

/** P2 §2.8, §2.9, §2.10. The types of the settings that are not shown are assumed. */
const SendNoticeBatchFields = z.strictObject({
  account: AccountName.optional(),
  /** Shown in the provider's portal, with the process's own id behind it where both have room in the 255 characters. */
  description: Text.max(MAX_DESCRIPTION).optional(),
  subject: notice.subject,
  /** HTML. */
  body: notice.body,
  /** CSV as P2 §2.9 describes it, in UTF-8. */
  recipients: DocumentInput,
  /** `strict`: one invalid row refuses the list; `skip-invalid`: such rows are left out, and named. Default `strict`. */
  onInvalid: z.enum(["strict", "skip-invalid"]).optional(),
  /** No two recipients may share it. Default `address`. */
  uniqueRecipients: z.enum(["address", "addressAndLookupKey"]).optional(),
  attachments: notice.attachments,
  /** In UTC (P2 §4.3); without it, or where it is past, the batch starts as soon as it is set up. */
  scheduledDate: Instant.optional(),
  issuerName: Text.optional(),
  from: Text.optional(),
  disableSenderHeader: z.boolean().optional(),
  replyTo: Text.optional(),
  timeToLive: notice.timeToLive,
  costCentre: Text.optional(),
  certificationLevel: notice.certificationLevel,
  affidavitKinds: notice.affidavitKinds,
  language: Text.optional(),
  affidavitLanguage: Text.optional(),
  /** Years. */
  onlineRetentionPeriod: z.int().min(1).optional(),
  ltaStorage: z.boolean().optional(),
  commitmentOptions: Text.optional(),
  commitmentCommentsAllowed: z.boolean().optional(),
  rejectReasons: Texts.optional(),
  acceptReasons: Texts.optional(),
  requireRejectReason: z.boolean().optional(),
  requireAcceptReason: z.boolean().optional(),
  deliveryAppearance: z.union([Text, z.record(z.string(), z.unknown())]).optional(),
  allowRefusal: z.boolean().optional(),
  ownerNotificationTemplate: Text.optional(),
  channel: Text.optional(),
  state: belongsToProcess,
  pushNotificationUrl: belongsToProcess,
  batchPushNotificationUrl: belongsToProcess,
  pushNotificationFilter: belongsToProcess,
  pushNotificationExtraData: belongsToProcess,
  settings: BatchSettings.optional(),
});
type Fields = z.infer<typeof SendNoticeBatchFields>;

const rules: Rule<Fields>[] = [
  {
    reads: ["recipients"],
    check({ recipients: { mediaType } }, refuse) {
      if (!/^text\/csv\s*(?:;|$)/i.test(mediaType))
        refuse("recipients.mediaType", "must be text/csv (P2 §4.3)");
    },
  },
  {
    reads: ["affidavitKinds"],
    check({ affidavitKinds = [] }, refuse) {
      if (affidavitKinds.includes("ContentDownload"))
        refuse(
          "affidavitKinds",
          "must not have ContentDownload: a batch cannot enforce the tracking that it needs (P2 §2.6, §2.8)",
        );
    },
  },
  attachmentNamesDiffer,
];

export const SendNoticeBatchInput = withRules(SendNoticeBatchFields, rules);
export type SendNoticeBatchInput = z.infer<typeof SendNoticeBatchInput>;

export const BatchOutcome = z.enum(batchOutcomes);
export type BatchOutcome = z.infer<typeof BatchOutcome>;

/** Says which notice, and what goes into its affidavit (P2 §4.2). */
export const BatchAffidavitRequest = z.strictObject({
  notice: Text.max(200),
  ...NoticeAffidavitRequest.shape,
});
export type BatchAffidavitRequest = z.infer<typeof BatchAffidavitRequest>;

/** Says what goes to the provider, and what is left out of it. */
export const BatchRecipients = z.strictObject({
  recipients: Count,
  invalidRows: Count,
  /** All problems of the list, as CSV; absent without any. */
  problemsCsv: DocumentReference.optional(),
  /** The problems by kind and column, the most frequent first. */
  problems: z.array(
    z.strictObject({ kind: z.string(), column: z.string().optional(), count: Count }),
  ),
});
export type BatchRecipients = z.infer<typeof BatchRecipients>;

/** P2 §2.8: as the newest read of the batch says. */
export const BatchProgress = z.strictObject({
  at: Instant,
  sentCount: Count.optional(),
  failedCount: Count.optional(),
  progressPercentage: z.number().optional(),
});
export type BatchProgress = z.infer<typeof BatchProgress>;

/** The notices by their state: reported by callbacks, and where none came, read by a query. */
export const BatchTotals = z.strictObject({ at: Instant, states: CountByWord });
export type BatchTotals = z.infer<typeof BatchTotals>;

export const SendNoticeBatchStatus = ProcessStatus.extend({
  list: BatchRecipients.optional(),
  progress: BatchProgress.optional(),
  totals: BatchTotals.optional(),
});
export type SendNoticeBatchStatus = z.infer<typeof SendNoticeBatchStatus>;

/** When we asked for the start, and when the provider's answer showed that all notices were made. */
export const BatchDates = z.strictObject({
  scheduledDate: Instant.optional(),
  startedAt: Instant.optional(),
  processedAt: Instant.optional(),
});
export type BatchDates = z.infer<typeof BatchDates>;

/** How many rows of the report have which state, outcome and source. */
export const BatchCounts = z.strictObject({
  recipients: Count,
  withoutNotice: Count,
  states: CountByWord,
  outcomes: CountByWord,
  sources: CountByWord,
});
export type BatchCounts = z.infer<typeof BatchCounts>;

/** `documents` are the list as it went to the provider, and the attachments. */
export const SendNoticeBatchResult = processResult({
  process: z.literal("sendNoticeBatch"),
  outcome: BatchOutcome,
  dates: BatchDates,
}).extend({
  list: BatchRecipients,
  counts: BatchCounts,
  /** Lists each recipient with its state, and where that is from; absent if no notice was made. */
  report: z.strictObject({ csv: DocumentReference, jsonLines: DocumentReference }).optional(),
  /** It is a ZIP with the affidavits of all notices. */
  archive: DocumentReference.optional(),
  /**
   * Notices of which affidavits are in the archive, and of which none are; absent where none were collected. `unreadable`: of the
   * missing ones, those for which the provider answered with something that is no ZIP of PDFs.
   */
  affidavits: z
    .strictObject({ collected: Count, missing: Count, unreadable: Count.optional() })
    .optional(),
});
export type SendNoticeBatchResult = z.infer<typeof SendNoticeBatchResult>;
