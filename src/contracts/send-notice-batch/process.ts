import { z } from "zod";
import {
  BatchAffidavitRequest,
  SendNoticeBatchInput,
  SendNoticeBatchResult,
  SendNoticeBatchStatus,
} from "./contract.js";
import type { BatchSettings } from "./contract.js";
import { answer, decider, unavailable, update } from "../definition/message-contract.js";
import { defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { affidavitAnswers, noticeAffidavitRefusals } from "../shared/communication.js";
import { sendNotice } from "../send-notice/process.js";
import { noticeEndStates, noticeOutcomes, noticeStates } from "../send-notice/states.js";
import { cancelBatch, requestBatchAffidavit } from "./messages.js";
import { batchStates } from "./states.js";

export * from "./contract.js";
export * from "./messages.js";
export * from "./states.js";

export const sendNoticeBatch = defineProcess({
  title: "Certified notices",
  provider: "evi-notice",
  input: SendNoticeBatchInput,
  result: SendNoticeBatchResult,
  status: SendNoticeBatchStatus,
  phases: [["submitting", "waiting", "tracking", "affidavits", "ended"]],
  states: batchStates,
  defaults: {
    ...sendNotice.defaults,
    progressIntervalSeconds: { value: 30, least: 1 },
    failureBudgetCount: { value: 10 },
    failureBudgetPercent: { value: 5, most: 100 },
    collectAffidavits: false,
  } satisfies DefaultsFor<BatchSettings>,
  items: { states: noticeStates, endStates: noticeEndStates, outcomes: noticeOutcomes },
  updates: {
    cancel: update(cancelBatch, {
      description:
        "Delete the batch before its start, so that no notice goes out (P2 §4.3 delete). The argument is optional.",
      argument: z.strictObject(decider),
      answer: answer({
        cancelled:
          "the batch does not exist or was deleted before its start, so no notice goes out",
        tooLate: "the batch was started",
        notPermitted: "the account may not delete the batch",
        unknown: "whether the batch was started is not known",
        pending:
          "the batch is being set up or started; it is cancelled next, if that is not too late",
        unavailable,
      }),
      decides: true,
    }),
    requestAffidavit: update(requestBatchAffidavit, {
      description: "Request an affidavit on demand of one notice of the batch (P2 §4.2).",
      argument: BatchAffidavitRequest,
      answer: affidavitAnswers({
        ...noticeAffidavitRefusals,
        notFound: "the process knows no such notice of the batch",
      }),
    }),
  },
  command: {
    summary: "send a certified notice to each recipient of a list",
    details: `Its recipients may also be { "path": "recipients.csv" }, relative to the input file, and so may the document of an attachment; the command stores the files in the document store.`,
    example:
      "trustflow send-notice-batch --input batch.json --id campaign-7 --watch\ntrustflow send-notice-batch --input batch.json --dry-run",
    notChecked: "what the account may use, and its balance: the provider checks it at the start",
  },
});
