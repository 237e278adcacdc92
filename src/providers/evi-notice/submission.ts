// What a caller may put into a notice (P2 §2.6), and its request body in the provider's spelling.
import type { Secret } from "../../contracts/shared/values.js";
import { renamed } from "../evi/members.js";
import type { EviNoticeAccount } from "./account.js";
import { attachmentFields } from "./attachment.js";
import type { NoticeAttachment } from "./attachment.js";

/** P2 §2.6. */
export interface NoticeSubmission {
  subject: string;
  /** HTML. */
  body: string;
  /** An e-mail address, or a mobile number in E.164 format. */
  recipientAddress: string;
  recipientDisplayName?: string | undefined;
  recipientLegalName?: string | undefined;
  issuerLegalName?: string | undefined;
  lookupKey?: string | undefined;
  certificationLevel?: string | undefined;
  /** Minutes, 60 to 86400. */
  timeToLive?: number | undefined;
  enforceTrackingUntilTimeToLive?: boolean | undefined;
  deliverySignMethod?: string | undefined;
  commitmentChoice?: string | undefined;
  evidenceAccessControlMethod?: string | undefined;
  evidenceAccessControlChallenge?: string | undefined;
  evidenceAccessControlChallengeResponse?: Secret | undefined;
  pushNotificationUrl?: string | undefined;
  pushNotificationFilter?: readonly string[] | undefined;
  pushNotificationExtraData?: string | undefined;
  affidavitKinds?: readonly string[] | undefined;
  /** Their shape is not shown: that of a batch attachment is assumed, the content in base64. */
  attachments?: readonly NoticeAttachment[] | undefined;
  /** Members that P2 §2.6 does not show, in the provider's spelling. */
  providerFields?: Readonly<Record<string, unknown>> | undefined;
}

/** P2 §2.6. */
const submissionFields = {
  subject: "Subject",
  body: "Body",
  recipientAddress: "RecipientAddress",
  recipientDisplayName: "RecipientDisplayName",
  recipientLegalName: "RecipientLegalName",
  issuerLegalName: "IssuerLegalName",
  lookupKey: "LookupKey",
  certificationLevel: "CertificationLevel",
  timeToLive: "TimeToLive",
  enforceTrackingUntilTimeToLive: "EnforceTrackingUntilTimeToLive",
  deliverySignMethod: "DeliverySignMethod",
  commitmentChoice: "CommitmentChoice",
  evidenceAccessControlMethod: "EvidenceAccessControlMethod",
  evidenceAccessControlChallenge: "EvidenceAccessControlChallenge",
  evidenceAccessControlChallengeResponse: "EvidenceAccessControlChallengeResponse",
  pushNotificationUrl: "PushNotificationUrl",
  pushNotificationFilter: "PushNotificationFilter",
  pushNotificationExtraData: "PushNotificationExtraData",
  affidavitKinds: "AffidavitKinds",
} as const satisfies Record<
  Exclude<keyof NoticeSubmission, "attachments" | "providerFields">,
  string
>;

/** The body of Submit: known fields, absent instead of null, the secret in clear. */
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
    ...renamed(submissionFields, {
      ...submission,
      evidenceAccessControlChallengeResponse: evidenceAccessControlChallengeResponse?.reveal(),
    }),
    ...(files && { [sent.attachments]: files }),
  };
}
