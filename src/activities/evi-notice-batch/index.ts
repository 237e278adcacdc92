// Lists the activities of a batch of notices (P2 §2.8-2.12, §4.3; docs/reading-the-specification.md §4).
import { activitiesOf } from "../runtime/activity.js";
import { provider } from "../evi-notice/context.js";
import { archiveAffidavits } from "./archive.js";
import { BatchContext } from "./context.js";
import type { BatchDependencies } from "./context.js";
import { watchItems } from "./items.js";
import { prepareBatch } from "./prepare.js";
import { followBatch } from "./progress.js";
import { writeReport } from "./report.js";
import {
  addRecipients,
  addBatchAttachments,
  configureBatch,
  createBatch,
  setBatchBody,
} from "./set-up.js";
import { deleteBatch, startBatch, verifyBatch } from "./start.js";
import type { BatchItem } from "../../batch/items/items.js";
import type { BatchAffidavitRequest } from "../../contracts/send-notice-batch/contract.js";
import type { BatchAffidavitAnswer } from "../../contracts/send-notice-batch/messages.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { affidavitAnswer } from "../evi/affidavit-request.js";
import { affidavitRefusals } from "../evi-notice/index.js";
import { runEffect } from "../runtime/effect.js";
import type { UpdateCall } from "../runtime/activity.js";

export function createBatchActivities(given: BatchDependencies) {
  const deps = { ...given, paces: new Map() };
  const activity = activitiesOf(provider, deps, BatchContext);
  return {
    prepareBatch: activity("createBatch", prepareBatch),
    createBatch: activity("createBatch", createBatch),
    setBatchBody: activity("setBatchBody", setBatchBody),
    addRecipients: activity("addRecipients", addRecipients),
    addBatchAttachments: activity("addBatchAttachment", addBatchAttachments),
    configureBatch: activity("updateBatch", configureBatch),
    verifyBatch: activity("queryRecipients", verifyBatch),
    startBatch: activity("startBatch", startBatch),
    deleteBatch: activity("deleteBatch", deleteBatch),
    requestBatchAffidavit: activity("requestAffidavit", requestBatchAffidavit),
    followBatch: activity("getBatch", followBatch),
    watchItems: activity("query", watchItems),
    writeReport: activity("queryRecipients", writeReport),
    archiveAffidavits: activity("downloadAffidavits", archiveAffidavits),
  };
}

export type BatchActivities = ReturnType<typeof createBatchActivities>;

/**
 * Only of a notice that the batch is known to have: another one belongs to another process. What a callback says of its state is not
 * enough to refuse. A request that was made before has its answer, whatever became of the notice since.
 */
export async function requestBatchAffidavit(
  context: BatchContext,
  given: UpdateCall & { account: string; asked: BatchAffidavitRequest },
): Promise<BatchAffidavitAnswer> {
  const { notice, ...flags } = given.asked;
  const item = await context.deps.items.shown(context.process, notice);
  if (!item) return { answer: "notFound" };
  if (isShownIneligible(item) && !(await isRequested(context, given)))
    return { answer: "notEligible" };
  const { evidenceId: id } = item;
  const requesting = runEffect(context, given.effect, {
    of: "update",
    operation: "requestAffidavit",
    input: { notice: id, ...flags },
    send: ({ signal }) => eviNotice.requestAffidavit(context.account, { id, ...flags }, signal),
  });
  return affidavitAnswer(requesting, affidavitRefusals);
}

function isShownIneligible({ state, source }: BatchItem): boolean {
  return source === "query" && (state === "Draft" || state === "Closed");
}

async function isRequested(context: BatchContext, { effect }: UpdateCall): Promise<boolean> {
  const rows = await context.rowsOf(effect.step);
  return rows.some(({ occurrence }) => occurrence === effect.occurrence);
}
