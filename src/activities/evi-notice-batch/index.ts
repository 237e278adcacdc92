// Lists the activities of a batch of notices (P2 §2.8-2.12, §4.3; docs/reading-the-specification.md §4).
import { activitiesOf } from "../runtime/activity.js";
import { provider } from "../evi-notice/context.js";
import { requestBatchAffidavit } from "./affidavit-request.js";
import { archiveAffidavits } from "./archive.js";
import { BatchContext } from "./context.js";
import type { BatchDependencies } from "./context.js";
import { watchItems } from "./items.js";
import { prepareBatch } from "./prepare.js";
import { followBatch } from "./progress.js";
import { writeReport } from "./report.js";
import { addRecipients } from "./recipients.js";
import { addBatchAttachments, configureBatch, createBatch, setBatchBody } from "./set-up.js";
import { deleteBatch, startBatch, verifyBatch } from "./start.js";

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
