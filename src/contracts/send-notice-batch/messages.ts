// The updates that `sendNoticeBatch` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { BatchAffidavitRequest } from "./contract.js";
import type { NoticeAffidavitAnswer } from "../send-notice/messages.js";
import type { Decider } from "../shared/messages.js";

export interface BatchCancelAnswer {
  answer: "cancelled" | "tooLate" | "notPermitted" | "unknown" | "pending" | "unavailable";
}
export const cancelBatch = defineUpdate<BatchCancelAnswer, [Decider]>("cancel");

export type BatchAffidavitAnswer = NoticeAffidavitAnswer | { answer: "notFound" };
export const requestBatchAffidavit = defineUpdate<BatchAffidavitAnswer, [BatchAffidavitRequest]>(
  "requestAffidavit",
);
