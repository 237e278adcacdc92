// Says what a caller may put into a notice (P2 §2.6), and writes its request body in the provider's spelling.
import { z } from "zod";
import { Secret } from "../../contracts/shared/values.js";
import { capitalised, flag, number, text, texts } from "../evi/members.js";
import type { EviNoticeAccount } from "./account.js";
import { NoticeAttachment, attachmentFields } from "./attachment.js";

/** P2 §2.6. */
const NoticeSubmission = z.object({
  subject: z.string(),
  /** HTML. */
  body: z.string(),
  /** An e-mail address, or a mobile number in E.164 format. */
  recipientAddress: z.string(),
  recipientDisplayName: text,
  recipientLegalName: text,
  issuerLegalName: text,
  lookupKey: text,
  certificationLevel: text,
  /** Minutes, 60 to 86400. */
  timeToLive: number,
  enforceTrackingUntilTimeToLive: flag,
  deliverySignMethod: text,
  commitmentChoice: text,
  evidenceAccessControlMethod: text,
  evidenceAccessControlChallenge: text,
  evidenceAccessControlChallengeResponse: z.instanceof(Secret).optional(),
  pushNotificationUrl: text,
  pushNotificationFilter: texts,
  pushNotificationExtraData: text,
  affidavitKinds: texts,
  /** Their shape is not shown: that of a batch attachment is assumed, the content in base64. */
  attachments: z.array(NoticeAttachment).readonly().optional(),
  /** Members that P2 §2.6 does not show, in the provider's spelling. */
  providerFields: z.record(z.string(), z.unknown()).readonly().optional(),
});
export type NoticeSubmission = z.infer<typeof NoticeSubmission>;

/** Leaves out what is absent, instead of null, and has the secret in clear. */
export function submissionBody(
  { attachments, providerFields, ...submission }: NoticeSubmission,
  { sent }: EviNoticeAccount,
): Record<string, unknown> {
  const { evidenceAccessControlChallengeResponse } = submission;
  const files = attachments?.map((attachment) => ({
    ...attachmentFields(attachment),
    [sent.content]: attachment.bytes.toString("base64"),
  }));
  return {
    ...providerFields,
    ...capitalised(NoticeSubmission, {
      ...submission,
      evidenceAccessControlChallengeResponse: evidenceAccessControlChallengeResponse?.reveal(),
    }),
    ...(files && { [sent.attachments]: files }),
  };
}
