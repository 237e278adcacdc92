// P2 §4.2, §4.3. A change of `State` or `ScheduledDate` starts a batch, so it is an operation of its own.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  submit: "keyed",
  get: "read",
  query: "read",
  downloadAttachments: "read",
  downloadAffidavits: "read",
  downloadAffidavit: "read",
  requestAffidavit: "once",
  createBatch: "lookup",
  queryBatches: "read",
  getBatch: "read",
  updateBatch: "repeatable",
  startBatch: "lookup",
  deleteBatch: "repeatable",
  setBatchBody: "repeatable",
  addRecipients: "lookup",
  queryRecipients: "read",
  deleteRecipients: "repeatable",
  addBatchAttachment: "lookup",
  listBatchAttachments: "read",
  downloadBatchAttachment: "read",
  deleteBatchAttachment: "repeatable",
} as const satisfies EffectClasses;

export type NoticeOperation = keyof typeof effects;
