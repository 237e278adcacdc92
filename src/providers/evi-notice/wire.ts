// The notice API as it travels (P2 §2.6–2.10, §4.2, §4.3, §7.2), in the provider's spelling: PascalCase. Requests are strict,
// responses are read loosely; what decides identity and progress is not, so that nothing real is read as absent.
import { z } from "zod";
import { textOf, Word } from "../errors/outside.js";
import { utcInstant } from "../http/instant.js";
import { capitalised, flag, ours, text, number, texts, Uuid } from "../evi/members.js";
import type { Ours } from "../evi/members.js";
import type { Spelling } from "../http/spelling.js";
import type { EviNoticeAccount } from "./account.js";
import { Secret } from "../../contracts/shared/values.js";

const notices = "/v2/EviNotice";
const batches = `${notices}/Batches`;
const batch = `${batches}/{BatchId}`;

export const routes = {
  submit: { method: "POST", path: `${notices}/Submit` },
  get: { method: "GET", path: `${notices}/{Id}` },
  query: { method: "POST", path: `${notices}/Query` },
  downloadAttachments: { method: "GET", path: `${notices}/{Id}/Attachments` },
  downloadAffidavits: { method: "GET", path: `${notices}/{Id}/Affidavits` },
  downloadAffidavit: { method: "GET", path: `${notices}/Affidavits/{Id}` },
  requestAffidavit: { method: "POST", path: `${notices}/Affidavits/Request` },
  createBatch: { method: "POST", path: batches },
  queryBatches: { method: "QUERY", path: batches },
  getBatch: { method: "GET", path: batch },
  updateBatch: { method: "PATCH", path: batch },
  startBatch: { method: "PATCH", path: batch },
  deleteBatch: { method: "DELETE", path: batch },
  setBatchBody: { method: "PUT", path: `${batch}/Body` },
  addRecipients: { method: "POST", path: `${batch}/Recipients` },
  queryRecipients: { method: "QUERY", path: `${batch}/Recipients` },
  deleteRecipients: { method: "DELETE", path: `${batch}/Recipients` },
  addBatchAttachment: { method: "POST", path: `${batch}/Attachments` },
  listBatchAttachments: { method: "GET", path: `${batch}/Attachments` },
  downloadBatchAttachment: { method: "GET", path: `${batch}/Attachments/{AttachmentId}` },
  deleteBatchAttachment: { method: "DELETE", path: `${batch}/Attachments/{AttachmentId}` },
} as const;

/** P2 §8. */
export const limits = {
  query: { least: 1, most: 100 },
  queryBatches: { least: 1, most: 100 },
  queryRecipients: { least: 1, most: 1000 },
  descriptionCharacters: 255,
} as const;

const Text = textOf(500).optional().catch(undefined);
const Instant = z.unknown().transform(utcInstant).optional();
const Id = z.union([z.string().min(1), z.int().transform(String)]);
/** P2 §2.8, §2.10 show no type: a number, or a text that is one. */
const Amount = z.union([
  z.number(),
  z
    .string()
    .trim()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number),
]);
const Count = Amount.pipe(z.int().nonnegative());
/** P2 §4.2, §4.3 show no type: it is sent back as it came. */
export const Cursor = z.union([z.string(), z.int()]);
export type Cursor = z.infer<typeof Cursor>;
/** The last page may say none, nothing, or 0. */
const NextCursor = Cursor.nullish().transform((cursor) => cursor || undefined);

/** P2 §4.2. */
export const IdAnswer = z.looseObject({ Id: Uuid });
export const RequestIdAnswer = z.looseObject({ RequestId: z.string().min(1) });
/** P2 §4.3. */
export const BatchIdAnswer = z.looseObject({ BatchId: Uuid });
export const AttachmentIdAnswer = z.looseObject({ AttachmentId: Id });

/** P2 §2.7; what else it holds is dropped. */
export const Affidavit = z.object({
  Id,
  Date: Instant,
  Description: Text,
  Kind: Text,
});

/** P2 §2.10; what else it holds is dropped. */
export const AttachmentAnswer = z.object({
  Id,
  DisplayName: Text,
  FileName: Text,
  MimeType: Text,
  Size: Count.optional().catch(undefined),
  ContentEncoding: Text,
  ContentId: Text,
});

/** P2 §2.7 shows no members of it, and no operation asks for one by its id. */
const NoticeAttachmentAnswer = AttachmentAnswer.extend({ Id: Id.optional().catch(undefined) });

/** P2 §2.7, §3.2. */
export const NoticeAnswer = z.looseObject({
  Id: z.string().min(1),
  /** P2 §3.2; one that the specification does not name passes through. */
  State: Word,
  Outcome: Word.optional().catch(undefined),
  LookupKey: z.string().nullish(),
  /** Set where the recipient refused the notice without opening it (P2 §3.4). */
  RefusedOn: Instant,
  SiteName: Text,
  XmissionResult: Text,
  XmissionSummary: Text,
  CustomLayoutLogoUrl: Text,
  Affidavits: z.array(Affidavit).nullish(),
  Attachments: z.array(NoticeAttachmentAnswer).nullish(),
});
export type NoticeAnswer = z.infer<typeof NoticeAnswer>;

/** P2 §4.2, Query. */
export const NoticePage = z.looseObject({ Cursor: NextCursor, Results: z.array(NoticeAnswer) });

/** P2 §2.8, §3.3. */
export const BatchAnswer = z.looseObject({
  BatchId: z.string().min(1),
  /** P2 §3.3; one that the specification does not name passes through. */
  State: Word,
  Description: z.string().nullish(),
  SentCount: Count.nullish(),
  FailedCount: Count.nullish(),
  ProgressPercentage: Amount.nullish(),
});
export type BatchAnswer = z.infer<typeof BatchAnswer>;

export const BatchPage = z.looseObject({
  Cursor: NextCursor,
  HasMoreResults: z.boolean(),
  Results: z.array(BatchAnswer),
});

/** P2 §2.9. */
export const RecipientAnswer = z.looseObject({
  Address: z.string().min(1),
  /** It is there once a notice was made for the recipient: an empty text and the empty UUID stand for none. */
  EvidenceUniqueId: z
    .string()
    .transform((id) => (/[^0-]/.test(id) ? id : undefined))
    .nullish(),
});
export type RecipientAnswer = z.infer<typeof RecipientAnswer>;

export const RecipientPage = z.looseObject({
  Cursor: NextCursor,
  Results: z.array(RecipientAnswer),
});

export const AttachmentList = z.array(AttachmentAnswer);

/** P2 §7.2. */
export const ProblemDocument = z.looseObject({
  Type: Text,
  Title: Text,
  Detail: Text,
  RequestId: Text,
});

export const NoticeAttachment = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  bytes: z.instanceof(Buffer),
  displayName: text,
  contentId: text,
  contentDescription: text,
  contentDisposition: text,
  contentLocation: text,
  contentEncoding: text,
  includeOnAffidavits: flag,
});
export type NoticeAttachment = z.infer<typeof NoticeAttachment>;

/** All but the content, in the provider's spelling: `Filename` where it is sent, `FileName` where it is listed (P2 §2.10). */
export function attachmentFields(attachment: NoticeAttachment): Record<string, unknown> {
  const { bytes: _, ...fields } = attachment;
  return capitalised(NoticeAttachment, fields, { fileName: "Filename" });
}

export type ListedAttachment = Ours<typeof AttachmentAnswer>;

/** In camelCase, dates in UTC, absent instead of null. */
export type Notice = Omit<Ours<typeof NoticeAnswer>, "affidavits" | "attachments"> & {
  /** Present when asked for, perhaps empty. */
  affidavits?: Ours<typeof Affidavit>[];
  attachments?: Ours<typeof NoticeAttachmentAnswer>[];
};

/** How the members may be called whose names are not shown. */
export function noticeSpelling({ members }: EviNoticeAccount): Spelling {
  const lists = { Results: ["Results"], Affidavits: ["Affidavits"], Attachments: ["Attachments"] };
  return { members: { ...lists, Id: members.id } };
}

export function noticeOf({ Affidavits, Attachments, ...read }: NoticeAnswer): Notice {
  return {
    ...ours(NoticeAnswer, read),
    ...(Affidavits && { affidavits: Affidavits.map((one) => ours(Affidavit, one)) }),
    ...(Attachments && {
      attachments: Attachments.map((one) => ours(NoticeAttachmentAnswer, one)),
    }),
  } as Notice;
}

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
