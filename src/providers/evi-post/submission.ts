// Says what a caller may put into a postal submission (P2 §2.1–2.4), and writes its request body in the provider's spelling.
import { z } from "zod";
import { Secret } from "../../contracts/shared/values.js";
import { capitalised, flag, number, text, texts } from "../evi/members.js";

/** P2 §2.2. */
const PostalAddress = z.object({
  streetAddress: z.string(),
  postalCode: z.string(),
  locality: z.string(),
  region: text,
  country: z.string(),
  postOfficeBoxAddress: text,
});
export type PostalAddress = z.infer<typeof PostalAddress>;

/** P2 §2.4. */
const PostalCustomField = z.object({
  key: z.string(),
  label: z.string(),
  value: z.string(),
  isLookupKey: flag,
});
export type PostalCustomField = z.infer<typeof PostalCustomField>;

/** P2 §2.3. */
const PostalOptions = z.object({
  postServiceType: text,
  postServiceProfile: text,
  certificationLevel: text,
  affidavitProfile: text,
  affidavitsOnDemandEnabled: flag,
  onlineRetentionPeriod: number,
  notaryRetentionPeriod: number,
  notaryProfile: text,
  evidenceAccessControlMethod: text,
  evidenceAccessControlChallenge: text,
  evidenceAccessControlChallengeResponse: z.instanceof(Secret).optional(),
  costCentre: text,
  customFields: z.array(PostalCustomField).readonly().optional(),
  pushNotificationUrl: text,
  pushNotificationFilter: texts,
  pushNotificationExtraData: text,
  language: text,
  enableDeliveryReceipt: flag,
  enableDeliveryAttempts: flag,
  deliveryAttemptsNumber: number,
  disposalDaysAmmount: number,
});
export type PostalOptions = z.infer<typeof PostalOptions>;

/** P2 §2.1. */
const PostalSubmission = z.object({
  /** The PDF. */
  document: z.instanceof(Buffer),
  recipientAddress: PostalAddress,
  recipientName: text,
  recipientLegalName: text,
  recipientPhone: text,
  recipientEmail: text,
  issuerName: text,
  issuerLegalName: text,
  issuerAddress: PostalAddress.optional(),
  issuerPhone: text,
  issuerEmail: text,
  issuerComments: text,
  lookupKey: text,
  options: PostalOptions.optional(),
});
export type PostalSubmission = z.infer<typeof PostalSubmission>;

/** Leaves out what is absent, instead of null, and has the secret in clear. */
export function submissionBody(submission: PostalSubmission): Record<string, unknown> {
  const { document, recipientAddress, issuerAddress, options } = submission;
  return capitalised(PostalSubmission, {
    ...submission,
    document: document.toString("base64"),
    recipientAddress: addressBody(recipientAddress),
    issuerAddress: addressBody(issuerAddress),
    options: options && optionsBody(options),
  });
}

function addressBody(address: PostalAddress | undefined): Record<string, unknown> | undefined {
  return address && capitalised(PostalAddress, address);
}

function optionsBody(options: PostalOptions): Record<string, unknown> {
  return capitalised(PostalOptions, {
    ...options,
    evidenceAccessControlChallengeResponse:
      options.evidenceAccessControlChallengeResponse?.reveal(),
    customFields: options.customFields?.map((field) => capitalised(PostalCustomField, field)),
  });
}
