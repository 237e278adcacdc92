// `sendNotice` sends a certified notice and follows it from submit to close (P2 §2.6, §2.7, §3.2, §4.2).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { noticeAffidavitKinds, noticeOutcomes } from "./states.js";
import {
  accessControl,
  belongsToProcess,
  challengeRule,
  seconds,
  trackingSpans,
} from "../shared/communication.js";
import { recipientAddressPattern, recipientAddressRule } from "../shared/recipient-address.js";
import { namesDiffer, withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, ProcessStatus, said } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  isSameSpelling,
  ownLimit,
  ProviderFields,
} from "../shared/values.js";

const Text = z.string().min(1);

/** The shape is not shown: that of a batch attachment is assumed (P2 §2.6, §2.10). */
export const NoticeAttachment = z.strictObject({
  fileName: FileName,
  document: DocumentInput,
  displayName: Text.optional(),
  contentId: Text.optional(),
  contentDescription: Text.optional(),
  contentDisposition: Text.optional(),
  contentLocation: Text.optional(),
  contentEncoding: Text.optional(),
  includeOnAffidavits: z.boolean().optional(),
});
export type NoticeAttachment = z.infer<typeof NoticeAttachment>;

export const NoticeSettings = z.strictObject({
  ...trackingSpans,
  /** Added to `timeToLive`, where `deadlineSeconds` is not given. */
  deadlineMarginSeconds: seconds.optional(),
});
export type NoticeSettings = Resolved<typeof NoticeSettings>;

/** P2 §2.6. Values whose availability depends on the account are checked by pattern only. */
const SendNoticeFields = z.strictObject({
  account: AccountName.optional(),
  subject: Text,
  /** HTML. */
  body: Text,
  recipientAddress: z.string().regex(recipientAddressPattern, recipientAddressRule),
  recipientDisplayName: Text.optional(),
  recipientLegalName: Text.optional(),
  issuerLegalName: Text.optional(),
  lookupKey: Text.optional(),
  certificationLevel: z
    .string()
    .regex(
      /^(?:Standard|Advanced|QERDS)(?:_[A-Za-z0-9]+)?$/,
      "must look like Standard, Advanced_EU or QERDS_ES (P2 §2.6)",
    )
    .optional(),
  /** Minutes. */
  timeToLive: z
    .int()
    .min(60, "must be 60 to 86400 minutes (P2 §2.6)")
    .max(86_400, "must be 60 to 86400 minutes (P2 §2.6)")
    .optional(),
  enforceTrackingUntilTimeToLive: z.boolean().optional(),
  deliverySignMethod: z.enum(["WebClick", "Challenge", "MobilePin", "EmailPin"]).optional(),
  commitmentChoice: z.enum(["Disabled", "Accept", "Reject", "AcceptOrReject"]).optional(),
  ...accessControl,
  affidavitKinds: z
    .array(z.enum(noticeAffidavitKinds))
    .max(...ownLimit(50))
    .optional(),
  attachments: z
    .array(NoticeAttachment)
    .max(...ownLimit(50))
    .optional(),
  /** Members that P2 §2.6 does not show, in the provider's spelling. */
  providerFields: ProviderFields.optional(),
  pushNotificationUrl: belongsToProcess,
  pushNotificationFilter: belongsToProcess,
  pushNotificationExtraData: belongsToProcess,
  settings: NoticeSettings.optional(),
});
type Fields = z.infer<typeof SendNoticeFields>;

/** The members of the submission that the input has under a name of its own, or that the process sets. */
const ownFields = Object.keys(SendNoticeFields.shape);

export const attachmentNamesDiffer = namesDiffer("attachments", "fileName", "attachment");

const rules: Rule<Fields>[] = [
  {
    reads: ["affidavitKinds", "enforceTrackingUntilTimeToLive"],
    check({ affidavitKinds = [], enforceTrackingUntilTimeToLive: isEnforced = false }, refuse) {
      const hasDownloads = affidavitKinds.includes("ContentDownload");
      if (hasDownloads && !isEnforced)
        refuse(
          "enforceTrackingUntilTimeToLive",
          "must be true: the affidavit ContentDownload needs it (P2 §2.6)",
        );
      if (isEnforced && !hasDownloads)
        refuse(
          "affidavitKinds",
          "must have ContentDownload: enforceTrackingUntilTimeToLive needs it (P2 §2.6)",
        );
    },
  },
  challengeRule("", "P2 §2.6", (input) => input),
  attachmentNamesDiffer,
  {
    reads: ["providerFields"],
    check({ providerFields = {} }, refuse) {
      for (const key of Object.keys(providerFields)) {
        if (ownFields.some((field) => isSameSpelling(field, key)))
          refuse(`providerFields.${key}`, "must be left out: the input or the process sets it");
      }
    },
  },
];

export const SendNoticeInput = withRules(SendNoticeFields, rules);
export type SendNoticeInput = z.infer<typeof SendNoticeInput>;

/** `openAtDeadline` and `other` are ours; the others are those of P2 §3.2 in camelCase. */
export const NoticeOutcome = z.enum([...noticeOutcomes, "openAtDeadline", "other"]);
export type NoticeOutcome = z.infer<typeof NoticeOutcome>;

export const SendNoticeStatus = ProcessStatus;
export type SendNoticeStatus = ProcessStatus;

/** The only date of a notice that the specification names (P2 §2.7). */
export const NoticeDates = z.strictObject({ refusedOn: Instant.optional() });
export type NoticeDates = z.infer<typeof NoticeDates>;

export const SendNoticeResult = processResult({
  process: z.literal("sendNotice"),
  outcome: NoticeOutcome,
  dates: NoticeDates,
}).extend(said);
export type SendNoticeResult = z.infer<typeof SendNoticeResult>;

/** P2 §4.2. */
export const NoticeAffidavitRequest = z.strictObject({
  includeBody: z.boolean().optional(),
  /** Needs attachments that were submitted with `includeOnAffidavits`. */
  includeAttachments: z.boolean().optional(),
  includeEvents: z.boolean().optional(),
});
export type NoticeAffidavitRequest = z.infer<typeof NoticeAffidavitRequest>;
