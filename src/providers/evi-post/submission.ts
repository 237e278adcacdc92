// What a caller may put into a postal submission (P2 §2.1–2.4), and its request body in the provider's spelling.
import type { Secret } from "../../contracts/shared/values.js";
import { renamed } from "../evi/members.js";

/** P2 §2.2. */
export interface PostalAddress {
  streetAddress: string;
  postalCode: string;
  locality: string;
  region?: string | undefined;
  country: string;
  postOfficeBoxAddress?: string | undefined;
}

/** P2 §2.4. */
export interface PostalCustomField {
  key: string;
  label: string;
  value: string;
  isLookupKey?: boolean | undefined;
}

/** P2 §2.3. */
export interface PostalOptions {
  postServiceType?: string | undefined;
  postServiceProfile?: string | undefined;
  certificationLevel?: string | undefined;
  affidavitProfile?: string | undefined;
  affidavitsOnDemandEnabled?: boolean | undefined;
  onlineRetentionPeriod?: number | undefined;
  notaryRetentionPeriod?: number | undefined;
  notaryProfile?: string | undefined;
  evidenceAccessControlMethod?: string | undefined;
  evidenceAccessControlChallenge?: string | undefined;
  evidenceAccessControlChallengeResponse?: Secret | undefined;
  costCentre?: string | undefined;
  customFields?: readonly PostalCustomField[] | undefined;
  pushNotificationUrl?: string | undefined;
  pushNotificationFilter?: readonly string[] | undefined;
  pushNotificationExtraData?: string | undefined;
  language?: string | undefined;
  enableDeliveryReceipt?: boolean | undefined;
  enableDeliveryAttempts?: boolean | undefined;
  deliveryAttemptsNumber?: number | undefined;
  disposalDaysAmmount?: number | undefined;
}

/** P2 §2.1. */
export interface PostalSubmission {
  /** The PDF. */
  document: Buffer;
  recipientAddress: PostalAddress;
  recipientName?: string | undefined;
  recipientLegalName?: string | undefined;
  recipientPhone?: string | undefined;
  recipientEmail?: string | undefined;
  issuerName?: string | undefined;
  issuerLegalName?: string | undefined;
  issuerAddress?: PostalAddress | undefined;
  issuerPhone?: string | undefined;
  issuerEmail?: string | undefined;
  issuerComments?: string | undefined;
  lookupKey?: string | undefined;
  options?: PostalOptions | undefined;
}

/** P2 §2.1. */
const submissionFields = {
  document: "Document",
  recipientAddress: "RecipientAddress",
  recipientName: "RecipientName",
  recipientLegalName: "RecipientLegalName",
  recipientPhone: "RecipientPhone",
  recipientEmail: "RecipientEmail",
  issuerName: "IssuerName",
  issuerLegalName: "IssuerLegalName",
  issuerAddress: "IssuerAddress",
  issuerPhone: "IssuerPhone",
  issuerEmail: "IssuerEmail",
  issuerComments: "IssuerComments",
  lookupKey: "LookupKey",
  options: "Options",
} as const satisfies Record<keyof PostalSubmission, string>;

/** P2 §2.2. */
const addressFields = {
  streetAddress: "StreetAddress",
  postalCode: "PostalCode",
  locality: "Locality",
  region: "Region",
  country: "Country",
  postOfficeBoxAddress: "PostOfficeBoxAddress",
} as const satisfies Record<keyof PostalAddress, string>;

/** P2 §2.3; `DisposalDaysAmmount` is spelled so. */
const optionFields = {
  postServiceType: "PostServiceType",
  postServiceProfile: "PostServiceProfile",
  certificationLevel: "CertificationLevel",
  affidavitProfile: "AffidavitProfile",
  affidavitsOnDemandEnabled: "AffidavitsOnDemandEnabled",
  onlineRetentionPeriod: "OnlineRetentionPeriod",
  notaryRetentionPeriod: "NotaryRetentionPeriod",
  notaryProfile: "NotaryProfile",
  evidenceAccessControlMethod: "EvidenceAccessControlMethod",
  evidenceAccessControlChallenge: "EvidenceAccessControlChallenge",
  evidenceAccessControlChallengeResponse: "EvidenceAccessControlChallengeResponse",
  costCentre: "CostCentre",
  customFields: "CustomFields",
  pushNotificationUrl: "PushNotificationUrl",
  pushNotificationFilter: "PushNotificationFilter",
  pushNotificationExtraData: "PushNotificationExtraData",
  language: "Language",
  enableDeliveryReceipt: "EnableDeliveryReceipt",
  enableDeliveryAttempts: "EnableDeliveryAttempts",
  deliveryAttemptsNumber: "DeliveryAttemptsNumber",
  disposalDaysAmmount: "DisposalDaysAmmount",
} as const satisfies Record<keyof PostalOptions, string>;

/** P2 §2.4. */
const customFieldFields = {
  key: "Key",
  label: "Label",
  value: "Value",
  isLookupKey: "IsLookupKey",
} as const satisfies Record<keyof PostalCustomField, string>;

/** The body of Submit: known fields only, absent instead of null, the secret in clear. */
export function submissionBody(submission: PostalSubmission): Record<string, unknown> {
  const { document, recipientAddress, issuerAddress, options } = submission;
  return renamed(submissionFields, {
    ...submission,
    document: document.toString("base64"),
    recipientAddress: addressBody(recipientAddress),
    issuerAddress: addressBody(issuerAddress),
    options: options && optionsBody(options),
  });
}

function addressBody(address: PostalAddress | undefined): Record<string, unknown> | undefined {
  return address && renamed(addressFields, address);
}

function optionsBody(options: PostalOptions): Record<string, unknown> {
  return renamed(optionFields, {
    ...options,
    evidenceAccessControlChallengeResponse:
      options.evidenceAccessControlChallengeResponse?.reveal(),
    customFields: options.customFields?.map((field) => renamed(customFieldFields, field)),
  });
}
