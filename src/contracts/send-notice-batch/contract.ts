// `sendNoticeBatch` sends one notice to each recipient of a list, from the check of the list to a report about each of them (P2 §2.8–2.10,
// §3.3, §3.4, §4.3).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import {
  attachmentNamesDiffer,
  NoticeAffidavitRequest,
  NoticeSettings,
  SendNoticeInput,
} from "../send-notice/contract.js";
import {
  Flag,
  belongsToProcess,
  seconds,
  processSettings,
  trackingSpans,
} from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import {
  AccountName,
  ComingInstant,
  DocumentInput,
  DocumentReference,
  Instant,
  ownLimit,
} from "../shared/values.js";
import { words } from "../shared/words.js";

const Text = z.string().min(1);
const Texts = z.array(Text).max(...ownLimit(100));
const Count = z.int().min(0);
/** By a word of the provider's, or by `other`. */
const CountByWord = z.record(z.string(), Count);

const notice = SendNoticeInput.shape;

/** P2 §8. */
const MAX_DESCRIPTION = 255;

export const BatchSettings = processSettings({
  ...NoticeSettings.shape,
  affidavitWindowSeconds: trackingSpans.affidavitWindowSeconds.describe(
    "With `collectAffidavits`: seconds after the last notice is closed during which affidavits are awaited.",
  ),
  deadlineSeconds: trackingSpans.deadlineSeconds.describe(
    "Seconds from the start, or from `scheduledDate`, after which notices that are still open end the process as `openAtDeadline`. Without it the deadline is `timeToLive` and `deadlineMarginSeconds`, and without `timeToLive` the configured one.",
  ),
  pollIntervalSeconds: trackingSpans.pollIntervalSeconds.describe(
    "Seconds between two reads of the notices that no callback has closed.",
  ),
  askIntervalSeconds: trackingSpans.askIntervalSeconds.describe(
    "As of `sendNotice`; a batch has no callbacks of its own that would cause a question.",
  ),
  progressIntervalSeconds: seconds
    .min(1)
    .optional()
    .describe("Seconds between two questions how far the batch is."),
  failureBudgetCount: Count.optional().describe(
    "How many recipients may be left out by the check of the list, or fail; `failureBudgetPercent` counts if it allows more. Beyond that the process waits for an operator's decision.",
  ),
  failureBudgetPercent: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe("The same budget in percent of the recipients, 0 to 100."),
  collectAffidavits: Flag.optional().describe(
    "Whether the affidavits of all notices are collected into one archive.",
  ),
});
export type BatchSettings = Resolved<typeof BatchSettings>;

/** P2 §2.8, §2.9, §2.10. The types of the settings that are not shown are assumed. */
const SendNoticeBatchFields = z.strictObject({
  account: AccountName.optional(),
  description: Text.max(MAX_DESCRIPTION)
    .optional()
    .describe(
      "Shown in the provider's portal, at most 255 characters, with the id of the process behind it if both have room (P2 §4.3).",
    )
    .meta({ examples: ["Contract change of the spring"] }),
  subject: notice.subject,
  body: notice.body,
  recipients: DocumentInput.describe(
    'The list of recipients: CSV in UTF-8 with the separator `;` and the columns of P2 §2.9, of which `address` and `legalname` are mandatory. A stored document, or one inline up to 1 MB; the command line also takes a file: `{ "path": "recipients.csv", "mediaType": "text/csv" }`.',
  ).meta({
    examples: [
      { base64: btoa("address;legalname\nada@example.com;Ada Byron\n"), mediaType: "text/csv" },
    ],
  }),
  onInvalid: words(
    {
      strict: "one invalid row refuses the list",
      "skip-invalid": "invalid rows are left out, and named",
    },
    "What invalid rows of the list do. Default: `strict`.",
  ).optional(),
  uniqueRecipients: words(
    {
      address: "no two recipients have the same address",
      addressAndLookupKey: "no two recipients have the same address and lookup key",
    },
    "What tells recipients apart. Default: `address`.",
  ).optional(),
  attachments: notice.attachments,
  scheduledDate: ComingInstant.optional().describe(
    "When the batch starts, RFC 3339 in UTC, before the year 2200 (P2 §2.8). Without it, or if it is past, the batch starts as soon as it is set up.",
  ),
  issuerName: Text.optional().describe("The name of the sender (P2 §2.8)."),
  from: Text.optional().describe("Passed on as `From` (P2 §2.8)."),
  disableSenderHeader: Flag.optional().describe("Passed on as `DisableSenderHeader` (P2 §2.8)."),
  replyTo: Text.optional().describe("Passed on as `ReplyTo` (P2 §2.8)."),
  timeToLive: notice.timeToLive,
  costCentre: Text.optional().describe("Passed on as `CostCentre` (P2 §2.8)."),
  certificationLevel: notice.certificationLevel,
  affidavitKinds: notice.affidavitKinds
    .describe(
      "Which affidavits are made of each notice; with `OnDemand` the update `requestAffidavit` may be used. `ContentDownload` is refused (P2 §2.6, §2.8).",
    )
    .meta({ examples: [["Submitted", "Closed"]] }),
  language: Text.optional().describe("Passed on as `Language` (P2 §2.8)."),
  affidavitLanguage: Text.optional().describe("Passed on as `AffidavitLanguage` (P2 §2.8)."),
  onlineRetentionPeriod: z
    .int()
    .min(1)
    .optional()
    .describe("Passed on as `OnlineRetentionPeriod`; years are assumed (P2 §2.8)."),
  ltaStorage: Flag.optional().describe("Passed on as `LtaStorage` (P2 §2.8)."),
  commitmentOptions: Text.optional().describe("Passed on as `CommitmentOptions` (P2 §2.8)."),
  commitmentCommentsAllowed: Flag.optional().describe(
    "Passed on as `CommitmentCommentsAllowed` (P2 §2.8).",
  ),
  rejectReasons: Texts.optional().describe("Passed on as `RejectReasons`, at most 100 (P2 §2.8)."),
  acceptReasons: Texts.optional().describe("Passed on as `AcceptReasons`, at most 100 (P2 §2.8)."),
  requireRejectReason: Flag.optional().describe("Passed on as `RequireRejectReason` (P2 §2.8)."),
  requireAcceptReason: Flag.optional().describe("Passed on as `RequireAcceptReason` (P2 §2.8)."),
  deliveryAppearance: z
    .union([Text, z.record(z.string(), z.unknown())])
    .optional()
    .describe("Passed on as `DeliveryAppearance`: a text or an object (P2 §2.8)."),
  allowRefusal: Flag.optional().describe(
    "Whether recipients can refuse the notice without opening it (P2 §2.8, §3.4).",
  ),
  ownerNotificationTemplate: Text.optional().describe(
    "Passed on as `OwnerNotificationTemplate` (P2 §2.8).",
  ),
  channel: Text.optional().describe("Passed on as `Channel` (P2 §2.8)."),
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

/** All ours, as the provider has no outcome of a batch: each recipient of the report has the one of its notice. */
export const BatchOutcome = words({
  closed: "every notice is closed",
  openAtDeadline: "the deadline was reached, and some notices are still open",
  invalid:
    "the provider gave the batch up as `Invalid`, and an operator decided to go on to the report",
  failed:
    "the provider gave the batch up as `Failed`, and an operator decided to go on to the report",
  cancelledBeforeSubmit: "cancelled before anything was sent",
  cancelledBeforeStart: "the batch was deleted before its start, and no notice was sent",
});
export const batchOutcomes = BatchOutcome.options;
export type BatchOutcome = z.infer<typeof BatchOutcome>;

export const BatchAffidavitRequest = z.strictObject({
  notice: Text.max(200).describe(
    "The provider's id of the notice: column `evidenceUniqueId` of the report.",
  ),
  ...NoticeAffidavitRequest.shape,
});
export type BatchAffidavitRequest = z.infer<typeof BatchAffidavitRequest>;

/** Says what goes to the provider, and what is left out of it. */
export const BatchRecipients = z.strictObject({
  recipients: Count.describe("How many recipients go to the provider."),
  invalidRows: Count.describe("How many rows of the list are invalid."),
  problemsCsv: DocumentReference.optional().describe(
    "All problems of the list, as CSV; absent without any.",
  ),
  problems: z
    .array(
      z.strictObject({
        kind: z.string().describe("The kind of problem."),
        column: z.string().optional().describe("The column that has it."),
        count: Count.describe("How many rows have it."),
      }),
    )
    .describe("The problems by kind and column, the most frequent first."),
});
export type BatchRecipients = z.infer<typeof BatchRecipients>;

/** P2 §2.8: as the newest read of the batch says. */
export const BatchProgress = z.strictObject({
  at: Instant.describe("When the batch was read."),
  sentCount: Count.optional().describe("`SentCount`: how many notices were sent."),
  failedCount: Count.optional().describe("`FailedCount`: how many notices failed."),
  progressPercentage: z
    .number()
    .optional()
    .describe("`ProgressPercentage`: how far the batch is, 0 to 100."),
});
export type BatchProgress = z.infer<typeof BatchProgress>;

export const BatchTotals = z.strictObject({
  at: Instant.describe("When they were counted."),
  states: CountByWord.describe(
    "How many notices are in which state: reported by callbacks, and where none came, read by a query.",
  ),
});
export type BatchTotals = z.infer<typeof BatchTotals>;

export const SendNoticeBatchStatus = ProcessStatus.extend({
  list: BatchRecipients.optional().describe("What the check of the list found."),
  progress: BatchProgress.optional().describe(
    "How far the batch is, by its newest read (P2 §2.8).",
  ),
  totals: BatchTotals.optional().describe("The notices by their state."),
});
export type SendNoticeBatchStatus = z.infer<typeof SendNoticeBatchStatus>;

export const BatchDates = z.strictObject({
  scheduledDate: Instant.optional().describe("The start that the input asked for."),
  startedAt: Instant.optional().describe("When the process asked for the start."),
  processedAt: Instant.optional().describe("When the provider showed that all notices were made."),
});
export type BatchDates = z.infer<typeof BatchDates>;

/** How many rows of the report have which state, outcome and source. */
export const BatchCounts = z.strictObject({
  recipients: Count.describe("How many recipients the report has."),
  withoutNotice: Count.describe("For how many of them the provider shows no notice."),
  states: CountByWord.describe("How many are in which state."),
  outcomes: CountByWord.describe("How many have which outcome."),
  sources: CountByWord.describe("From where the state is known, and of how many."),
});
export type BatchCounts = z.infer<typeof BatchCounts>;

/** `documents` are the list as it went to the provider, and the attachments. */
export const SendNoticeBatchResult = processResult({
  process: z.literal("sendNoticeBatch"),
  outcome: BatchOutcome,
  dates: BatchDates,
}).extend({
  list: BatchRecipients.describe("What the check of the list found."),
  counts: BatchCounts.describe("The rows of the report, counted."),
  report: z
    .strictObject({
      csv: DocumentReference.describe("The report as CSV."),
      jsonLines: DocumentReference.describe("The report as JSON Lines."),
    })
    .optional()
    .describe(
      "Lists each recipient with its state, and from where that is known; absent if no notice was made.",
    ),
  archive: DocumentReference.optional().describe("A ZIP with the affidavits of all notices."),
  affidavits: z
    .strictObject({
      collected: Count.describe("Notices of which affidavits are in the archive."),
      missing: Count.describe("Notices of which none are."),
      unreadable: Count.optional().describe(
        "Of the missing ones, those for which the provider answered with something that is no ZIP of PDFs.",
      ),
    })
    .optional()
    .describe("What the archive has; absent if none was collected."),
});
export type SendNoticeBatchResult = z.infer<typeof SendNoticeBatchResult>;
