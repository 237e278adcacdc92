// The updates that `sendNoticeBatch` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { BatchAffidavitRequest } from "./contract.js";
import type { NoticeAffidavitAnswer } from "../send-notice/messages.js";
import type { Decider } from "../shared/messages.js";

/**
 * `cancelled`: the batch does not exist, or was deleted before its start, so no notice goes out. `tooLate`: it was started.
 * `pending`: the batch is being set up or started; it is cancelled next, if that is not too late.
 */
export interface BatchCancelAnswer {
  answer: "cancelled" | "tooLate" | "notPermitted" | "unknown" | "pending" | "unavailable";
}
export const cancelBatch = defineUpdate<BatchCancelAnswer, [Decider]>("cancel");

/** As that of a single notice; `notFound`: the process knows no such notice of the batch. */
export type BatchAffidavitAnswer = NoticeAffidavitAnswer | { answer: "notFound" };
export const requestBatchAffidavit = defineUpdate<BatchAffidavitAnswer, [BatchAffidavitRequest]>(
  "requestAffidavit",
);
