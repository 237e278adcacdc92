// The postal API as it travels (P2 §2.1–2.5, §4.1, §7.1), in the provider's spelling. Requests are strict, responses are
// read loosely; what decides identity (ids, state, lookup key, affidavits) is not, so that nothing real is read as absent.
import { z } from "zod";
import { textOf, Word } from "../errors/outside.js";
import { utcInstant } from "../http/instant.js";
import { ours, capitalised, flag, number, text, texts, Uuid } from "../evi/members.js";
import type { Ours } from "../evi/members.js";
import { isPdf } from "../http/described.js";
import { Secret } from "../../contracts/shared/values.js";

export const routes = {
  submit: { method: "POST", path: "/v1/EviPost/Submit" },
  query: { method: "GET", path: "/v1/EviPost/Query" },
  requestAffidavit: { method: "POST", path: "/v1/EviPost/AffidavitRequest" },
  cancel: { method: "POST", path: "/v1/EviPost/Cancel" },
} as const;

/** P2 §4.1, assumed: a GET takes the ids as one comma-separated value, as `WithUniqueIds` does; a POST as a JSON array. */
export const IDS_SEPARATOR = ",";

/** P2 §4.1, Query. `OnState` and `WithOutcome` are never sent ("contact support before use"). */
export const queryParameters = {
  uniqueIds: "WithUniqueIds",
  lookupKeys: "WithLookupKeys",
  orderBy: "OrderResultsBy",
  offset: "Offset",
  limit: "Limit",
  includeDocument: "IncludeDocumentOnResult",
  includeAffidavits: "IncludeAffidavitsOnResult",
  includeBlobs: "IncludeAffidavitBlobsOnResult",
} as const;

const Text = textOf(500).optional().catch(undefined);
const Id = z.string().min(1);
const Instant = z.unknown().transform(utcInstant).optional();

/** P2 §4.1: Submit and Cancel answer with it. */
export const UniqueIdAnswer = z.looseObject({ uniqueId: Uuid });
/** P2 §4.1, AffidavitRequest. */
export const RequestIdAnswer = z.looseObject({ requestId: Id });

/** P2 §2.5; what else they hold is dropped. */
export const Address = z.object({
  streetAddress: Text,
  postalCode: Text,
  locality: Text,
  region: Text,
  country: Text,
});
export const Affidavit = z.object({
  uniqueId: Id,
  date: Instant,
  evidenceUniqueId: Text,
  description: Text,
  bytes: z.string().nullish(),
});
export type Affidavit = z.infer<typeof Affidavit>;

/** P2 §2.5. */
export const ResultItem = z.looseObject({
  evidenceId: Id,
  /** P2 §3.1; one that the specification does not name passes through. */
  state: Word,
  lookupKey: z.string().nullish(),
  outcome: Word.optional().catch(undefined),
  recipientName: Text,
  costCentre: Text,
  /** Unit not shown (P2 §2.5): never compute with it. */
  timeToLive: z.number().optional().catch(undefined),
  stateDate: Instant,
  lastStateChangeDate: Instant,
  outcomeDate: Instant,
  creationDate: Instant,
  submittedOn: Instant,
  processedOn: Instant,
  sentOn: Instant,
  address: Address.optional().catch(undefined),
  affidavits: z.array(Affidavit).nullish(),
});
export type ResultItem = z.infer<typeof ResultItem>;

/** P2 §2.5: the list. */
export const QueryAnswer = z.looseObject({
  results: z.array(ResultItem),
  totalMatches: z.int().nonnegative(),
});

/** P2 §7.1. */
export const ErrorAnswer = z.looseObject({
  responseStatus: z.looseObject({
    errorCode: Text,
    message: Text,
    errors: z
      .array(z.looseObject({ errorCode: Text, fieldName: Text, message: Text }))
      .optional()
      .catch(undefined),
  }),
});

export type PostalAffidavit = Omit<Ours<typeof Affidavit>, "bytes"> & {
  /** The PDF; only with the deprecated blob option. */
  bytes?: Buffer;
};

/** As a query shows it: dates in UTC, absent instead of null. */
export type PostalItem = Omit<Ours<typeof ResultItem>, "address" | "affidavits"> & {
  address?: Ours<typeof Address>;
  /** Present when asked for, perhaps empty. */
  affidavits?: PostalAffidavit[];
};

/** Undefined where an embedded affidavit is no PDF. */
export function postalItem({ affidavits, address, ...read }: ResultItem): PostalItem | undefined {
  const listed = affidavits?.map(affidavitOf);
  if (listed?.includes(undefined)) return undefined;
  return {
    ...ours(ResultItem, read),
    ...(address && { address: ours(Address, address) }),
    ...(listed && { affidavits: listed }),
  } as PostalItem;
}

function affidavitOf({ bytes: base64, ...read }: Affidavit): PostalAffidavit | undefined {
  const bytes = base64 ? Buffer.from(base64, "base64") : undefined;
  if (bytes !== undefined && !isPdf(bytes)) return undefined;
  return { ...ours(Affidavit, read), ...(bytes && { bytes }) } as PostalAffidavit;
}

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
