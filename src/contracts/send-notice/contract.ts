// `sendNotice` sends a certified notice and follows it from submit to close (P2 §2.6, §2.7, §3.2, §4.2).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { noticeAffidavitKinds } from "./states.js";
import type { noticeOutcomes } from "./states.js";
import {
  Flag,
  accessControl,
  callbackMembers,
  challengeRule,
  seconds,
  processSettings,
  trackingSpans,
} from "../shared/communication.js";
import { recipientAddressPattern, recipientAddressRule } from "../shared/recipient-address.js";
import { namesDiffer, withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, said } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  isSameSpelling,
  ownLimit,
  ProviderFields,
} from "../shared/values.js";
import { words } from "../shared/words.js";

const Text = z.string().min(1);

/** The shape is not shown: that of a batch attachment is assumed (P2 §2.6, §2.10). */
export const NoticeAttachment = z.strictObject({
  fileName: FileName.describe("The file name; no two attachments have the same."),
  document: DocumentInput,
  displayName: Text.optional().describe("The name that the reader sees."),
  contentId: Text.optional().describe("The content id."),
  contentDescription: Text.optional().describe("What the file is."),
  contentDisposition: Text.optional().describe("The content disposition."),
  contentLocation: Text.optional().describe("The content location."),
  contentEncoding: Text.optional().describe("The content encoding."),
  includeOnAffidavits: Flag.optional().describe(
    "Whether affidavits on demand may have the attachment (P2 §4.2).",
  ),
});
export type NoticeAttachment = z.infer<typeof NoticeAttachment>;

export const NoticeSettings = processSettings({
  ...trackingSpans,
  deadlineSeconds: trackingSpans.deadlineSeconds.describe(
    "Seconds from the submit after which a notice that is still open ends the process as `openAtDeadline`. Without it the deadline is `timeToLive` and `deadlineMarginSeconds`, and without `timeToLive` the configured one.",
  ),
  deadlineMarginSeconds: seconds
    .optional()
    .describe(
      "Seconds added to `timeToLive` to make the deadline, if `deadlineSeconds` is not given.",
    ),
});
export type NoticeSettings = Resolved<typeof NoticeSettings>;

/** P2 §2.6. Values whose availability depends on the account are checked by pattern only. */
const SendNoticeFields = z.strictObject({
  account: AccountName.optional(),
  subject: Text.describe("The subject.").meta({
    examples: ["Your contract changes on 1 March"],
  }),
  body: Text.describe("The content, HTML.").meta({
    examples: ["<p>Please read the new conditions.</p>"],
  }),
  recipientAddress: z
    .string()
    .regex(recipientAddressPattern, recipientAddressRule)
    .describe("An e-mail address, or a mobile number in E.164.")
    .meta({ examples: ["ada@example.com"] }),
  recipientDisplayName: Text.optional()
    .describe("The name of the recipient.")
    .meta({ examples: ["Ada Byron"] }),
  recipientLegalName: Text.optional().describe("The legal name of the recipient."),
  issuerLegalName: Text.optional().describe("The legal name of the sender."),
  lookupKey: Text.optional().describe("Your own reference, by which the notice can be queried."),
  certificationLevel: z
    .string()
    .regex(
      /^(?:Standard|Advanced|QERDS)(?:_[A-Za-z0-9]+)?$/,
      "must look like Standard, Advanced_EU or QERDS_ES (P2 §2.6)",
    )
    .optional()
    .describe(
      "`Standard`, `Advanced`, `QERDS` or a variant such as `Advanced_EU` or `QERDS_ES`. The account decides which ones there are (P2 §2.6).",
    ),
  timeToLive: z
    .int()
    .min(60, "must be 60 to 86400 minutes (P2 §2.6)")
    .max(86_400, "must be 60 to 86400 minutes (P2 §2.6)")
    .optional()
    .describe(
      "Minutes of delivery attempts before the notice expires, 60 to 86400. Default: that of the account (P2 §2.6).",
    ),
  enforceTrackingUntilTimeToLive: Flag.optional().describe(
    "Whether downloads are tracked until `timeToLive` has passed; goes together with `ContentDownload` in `affidavitKinds` (P2 §2.6).",
  ),
  deliverySignMethod: z
    .enum(["WebClick", "Challenge", "MobilePin", "EmailPin"])
    .optional()
    .describe("How the recipient signs the delivery (P2 §2.6)."),
  commitmentChoice: z
    .enum(["Disabled", "Accept", "Reject", "AcceptOrReject"])
    .optional()
    .describe("Which answers the recipient can give (P2 §2.6)."),
  ...accessControl,
  affidavitKinds: z
    .array(z.enum(noticeAffidavitKinds))
    .max(...ownLimit(50))
    .optional()
    .describe(
      "Which affidavits are made; with `OnDemand` the update `requestAffidavit` may be used (P2 §2.6).",
    )
    .meta({ examples: [["Submitted", "Read", "Closed"]] }),
  attachments: z
    .array(NoticeAttachment)
    .max(...ownLimit(50))
    .optional()
    .describe("The files that go with it, at most 50 (P2 §2.6, §2.10)."),
  providerFields: ProviderFields.optional().describe(
    "Further members of the submission that P2 §2.6 does not show, in the provider's spelling.",
  ),
  ...callbackMembers,
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
export const NoticeOutcome = words({
  none: "no outcome yet",
  certified: "certified",
  sent: "accepted by the delivery channel",
  delivered: "reached the recipient",
  received: "the recipient followed the link",
  read: "the recipient opened the content",
  accepted: "the recipient read it and answered yes",
  rejected: "the recipient read it and answered no",
  failed: "the delivery failed for good",
  cancelled: "cancelled",
  refused: "the recipient refused it without opening it",
  openAtDeadline: "the deadline was reached, and the notice is still open",
  other: "a word that Trustflow does not know; `providerOutcome` has it",
} satisfies Record<(typeof noticeOutcomes)[number] | "openAtDeadline" | "other", string>);
export type NoticeOutcome = z.infer<typeof NoticeOutcome>;

/** The only date of a notice that the specification names (P2 §2.7). */
export const NoticeDates = z.strictObject({
  refusedOn: Instant.optional().describe(
    "When the recipient refused the notice, as the provider says.",
  ),
});
export type NoticeDates = z.infer<typeof NoticeDates>;

export const SendNoticeResult = processResult({
  process: z.literal("sendNotice"),
  outcome: NoticeOutcome,
  dates: NoticeDates,
}).extend(said);
export type SendNoticeResult = z.infer<typeof SendNoticeResult>;

/** P2 §4.2. */
export const NoticeAffidavitRequest = z.strictObject({
  includeBody: Flag.optional().describe("Whether the affidavit has the body."),
  includeAttachments: Flag.optional().describe(
    "Whether the affidavit has the attachments that were submitted with `includeOnAffidavits`.",
  ),
  includeEvents: Flag.optional().describe("Whether the affidavit has the events."),
});
export type NoticeAffidavitRequest = z.infer<typeof NoticeAffidavitRequest>;
