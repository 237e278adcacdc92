// `sendNotice` as the harnesses take it.
import type { HandleOf, SendNoticeInput } from "../../../src/client.js";
import { DAY_SECONDS } from "../../../src/contracts/definition/process-contract.js";
import { callsOf } from "../process-under-test.js";
import type { CallsOf, ProcessUnderTest } from "../process-under-test.js";
import { noticeInput, withAttachment } from "./inputs.js";

const DAY_MINUTES = 1_440;
type NoticeHandle = HandleOf<"sendNotice">;
const provider = "evi-notice";

/** The operations of batches, which this process does not use, and the look-up, which only a lost answer or a missing proof needs. */
type Unused =
  | "query"
  | "createBatch"
  | "queryBatches"
  | "getBatch"
  | "updateBatch"
  | "startBatch"
  | "deleteBatch"
  | "setBatchBody"
  | "addRecipients"
  | "queryRecipients"
  | "deleteRecipients"
  | "addBatchAttachment"
  | "listBatchAttachments"
  | "downloadBatchAttachment"
  | "deleteBatchAttachment";

/** It stays open for the week of its time to live: no callback reports an end, so that one query alone is under way. */
const whileOpen = (affidavitKinds: string[]) => ({
  outcome: "delivered",
  variant: { words: "delivered", input: { affidavitKinds } },
});

const noticeCalls: CallsOf<typeof provider, NoticeHandle, Unused> = {
  submit: { activity: "submit", outcome: "read", variant: {} },
  requestAffidavit: {
    activity: "requestAffidavit",
    ...whileOpen(["Submitted", "Closed", "OnDemand"]),
    ask: (handle, updateId) => handle.requestAffidavit({}, updateId),
  },
  get: { activity: "ask", ...whileOpen([]) },
  downloadAffidavits: { activity: "ask", ...whileOpen(["Submitted", "Dispatched"]) },
  downloadAffidavit: { activity: "ask", ...whileOpen(["Submitted"]) },
  downloadAttachments: {
    activity: "attachments",
    outcome: "read",
    variant: { input: { attachments: [withAttachment()] } },
  },
};

export const sendNoticeUnderTest: ProcessUnderTest<NoticeHandle> = {
  process: "sendNotice",
  provider,
  words: "read",
  outcome: "read",
  effects: { "evi-notice.submit": 1 },
  calls: callsOf<typeof provider, NoticeHandle, Unused>(provider, noticeCalls, {
    requestAffidavit: "affidavitRequest",
    downloadAttachments: "attachments",
    downloadAffidavits: "affidavits",
    downloadAffidavit: "affidavit",
  }),
  longWays: [
    {
      variant: { words: "received", input: { timeToLive: 60 * DAY_MINUTES } },
      outcome: "received",
    },
    { variant: { words: "failed", input: { timeToLive: 45 * DAY_MINUTES } }, outcome: "failed" },
    {
      variant: {
        words: "read",
        input: {
          timeToLive: 30 * DAY_MINUTES,
          enforceTrackingUntilTimeToLive: true,
          affidavitKinds: ["ContentDownload"],
        },
      },
      outcome: "read",
    },
    {
      variant: {
        words: "read,affidavits-late",
        input: { settings: { affidavitWindowSeconds: 30 * DAY_SECONDS } },
      },
      outcome: "read",
    },
    { variant: { words: "open" }, outcome: "openAtDeadline" },
  ],
  start(trustflow, id, { words = sendNoticeUnderTest.words, input } = {}) {
    const more: Partial<SendNoticeInput> = input ?? {};
    return trustflow.sendNotice(id, noticeInput(id, words, more));
  },
};
