// Batches: created, set up, started, followed (P2 §2.8, §3.3, §3.4, §4.3).
import { misuseError, shownUuid } from "../http/answer.js";
import { json, jsonOrEmpty, LONG_JSON_BYTES } from "../http/described.js";
import type { Described } from "../http/described.js";
import { capitalised, flag, number, ours, text, texts } from "../evi/members.js";
import { z } from "zod";
import type { EviNoticeAccount } from "./account.js";
import { call, deletion, nothing, onBatch } from "./call.js";
import { checkLimit, page } from "./page.js";
import type { Page } from "./page.js";
import { asking } from "./translate.js";
import { BatchAnswer, BatchIdAnswer, BatchPage, limits, routes } from "./wire.js";

/** P2 §2.8, §3.3. */
export interface Batch {
  batchId: string;
  /** P2 §3.3; one that the specification does not name passes through. */
  state: string;
  description?: string;
  sentCount?: number;
  failedCount?: number;
  progressPercentage?: number;
  /** All other members, untouched: the settings, and the template of the notices as `EviNotice`. */
  providerFields?: Record<string, unknown>;
}

/** P2 §2.8: only what is given changes. What starts a batch is `BatchStart`. The types that are not shown are assumed. */
const BatchSettings = z.object({
  issuerName: text,
  subject: text,
  description: text,
  from: text,
  disableSenderHeader: flag,
  replyTo: text,
  /** Minutes. */
  timeToLive: number,
  costCentre: text,
  certificationLevel: text,
  affidavitKinds: texts,
  language: text,
  affidavitLanguage: text,
  /** Years. */
  onlineRetentionPeriod: number,
  ltaStorage: flag,
  pushNotificationUrl: text,
  pushNotificationFilter: texts,
  pushNotificationExtraData: text,
  commitmentOptions: text,
  commitmentCommentsAllowed: flag,
  rejectReasons: texts,
  acceptReasons: texts,
  requireRejectReason: flag,
  requireAcceptReason: flag,
  deliveryAppearance: z.unknown().optional(),
  /** An alias of `pushNotificationUrl` (P2 §6.1). */
  batchPushNotificationUrl: text,
  allowRefusal: flag,
  ownerNotificationTemplate: text,
  channel: text,
});
export type BatchSettings = z.infer<typeof BatchSettings>;

/** P2 §3.4. */
const BatchStart = z.object({
  /** `Submitted` starts the batch. */
  state: text,
  /** Schedules it: an instant in UTC. */
  scheduledDate: text,
});
export type BatchStart = z.infer<typeof BatchStart>;

/**
 * P2 §4.3, §8: at most 255 characters. Without an answer `unavailable`, effect unknown: `queryBatches` tells. An id that a
 * broken answer shows is the error's `reference`.
 */
export async function createBatch(
  account: EviNoticeAccount,
  { description }: { description: string },
  signal?: AbortSignal,
): Promise<{ batchId: string }> {
  checkDescription("createBatch", description);
  const request = { ...routes.createBatch, json: { Description: description }, signal };
  const { value } = await call(
    account,
    "createBatch",
    request,
    json(BatchIdAnswer, { reference: shownUuid }),
  );
  return { batchId: value.BatchId };
}

const BatchQuery = z.object({
  states: texts,
  cursor: text,
  /** 1 to 100. */
  limit: z.number(),
  sortBy: z.enum(["LastUpdated", "ScheduledFor", "StartedOn"]).optional(),
  sortOrder: z.enum(["Ascending", "Descending"]).optional(),
  direction: z.enum(["Forward", "Backward"]).optional(),
  textSearch: text,
});
export type BatchQuery = z.infer<typeof BatchQuery>;

/** P2 §4.3, by the HTTP verb QUERY. 400 (a state, order or direction that is unknown) `protocol`. */
export async function queryBatches(
  account: EviNoticeAccount,
  asked: BatchQuery,
  signal?: AbortSignal,
): Promise<Page<Batch> & { hasMoreResults: boolean }> {
  checkLimit("queryBatches", asked.limit);
  const request = { ...routes.queryBatches, json: capitalised(BatchQuery, asked), signal };
  const described = json(BatchPage, shownTo(account));
  const { value } = await call(account, "queryBatches", request, described);
  return { ...page(value, batchOf), hasMoreResults: value.HasMoreResults };
}

/** P2 §2.8, §4.3. 404 `notVisibleYet`. */
export const getBatch = onBatch(
  "getBatch",
  () => ({}),
  (account) => json(BatchAnswer, shownTo(account)),
  batchOf,
);

/** P2 §2.8, §4.3: settings, as often as one likes. 400 `invalidRequest`. */
export const updateBatch = onBatch(
  "updateBatch",
  ({ settings }: { settings: BatchSettings }) => {
    if (settings.description !== undefined) checkDescription("updateBatch", settings.description);
    return { json: capitalised(BatchSettings, settings) };
  },
  () => notShown,
  nothing,
);

/** P2 §3.4, §4.3. 400 `invalidRequest`: not ready; without an answer `unavailable`, effect unknown: `getBatch` tells. */
export const startBatch = onBatch(
  "startBatch",
  (start: BatchStart) => ({ json: capitalised(BatchStart, start) }),
  () => notShown,
  nothing,
);

/** P2 §4.3. */
export const deleteBatch = deletion("deleteBatch");

/** P2 §4.3: the HTML itself, queued by a 202. 400 (no valid body) `invalidRequest`. */
export const setBatchBody = onBatch(
  "setBatchBody",
  // A header's charset is not shown: a body of other characters than ASCII says its own in its `<meta>`.
  ({ html }: { html: string }) => ({
    raw: { content: Buffer.from(html, "utf8"), mediaType: "text/html" },
  }),
  () => notShown,
  nothing,
);

/** A 2xx whose body the specification does not show; it may be the batch. */
const notShown: Described<unknown> = jsonOrEmpty(z.unknown(), { maxBytes: LONG_JSON_BYTES });

/** Each batch holds its whole body. */
function shownTo({ members }: EviNoticeAccount) {
  const spelling = { members: { Results: ["Results"], BatchId: members.batchId } };
  return { spelling, maxBytes: LONG_JSON_BYTES };
}

function batchOf(read: BatchAnswer): Batch {
  return ours(BatchAnswer, read) as unknown as Batch;
}

function checkDescription(operation: "createBatch" | "updateBatch", description: string): void {
  const most = limits.descriptionCharacters;
  if (description === "" || description.length > most)
    throw misuseError(asking(operation), `the description must have 1 to ${most} characters`);
}
