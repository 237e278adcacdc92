// `sendNoticeBatch` as the harnesses take it.
import type { HandleOf, SendNoticeBatchInput } from "../../../src/client.js";
import { callsOf } from "../process-under-test.js";
import type { CallsOf, ProcessUnderTest } from "../process-under-test.js";
import { batchInput, fastSettings, withAttachment } from "./inputs.js";

const DAY_MINUTES = 1_440;
type BatchHandle = HandleOf<"sendNoticeBatch">;
const provider = "evi-notice";

/** The operations of single notices; the look-ups, which only a lost answer or a missing proof needs; what repairs a broken set-up. */
type Unused =
  | "submit"
  | "get"
  | "requestAffidavit"
  | "downloadAttachments"
  | "downloadAffidavits"
  | "downloadAffidavit"
  | "queryBatches"
  | "deleteRecipients"
  | "deleteBatchAttachment"
  | "downloadBatchAttachment";

const closes = { outcome: "closed", variant: {} };
const NOTICES = 2;
const effects = {
  "evi-notice.createBatch": 1,
  "evi-notice.addRecipients": 1,
  "evi-notice.startBatch": 1,
  "evi-notice.batchNotice": NOTICES,
};
const attachmentEffect = { "evi-notice.addBatchAttachment": 1 };
/** These leave nothing in the ledger. */
const unrecorded = { "evi-notice.setBody": 0, "evi-notice.updateBatch": 0 };
/** So far ahead that it waits for it while a person deletes it. */
const scheduledDate = "2099-01-01T00:00:00.000Z";

const batchCalls: CallsOf<typeof provider, BatchHandle, Unused> = {
  createBatch: { activity: "createBatch", step: "create", ...closes },
  setBatchBody: {
    activity: "setBatchBody",
    step: "body",
    ...closes,
    effects: { ...effects, ...unrecorded },
  },
  addRecipients: { activity: "addRecipients", step: "recipients", ...closes },
  addBatchAttachment: {
    activity: "addBatchAttachments",
    step: "attachment-1",
    outcome: "closed",
    variant: { input: { attachments: [withAttachment()] } },
    effects: { ...effects, ...attachmentEffect },
  },
  updateBatch: {
    activity: "configureBatch",
    step: "configure",
    ...closes,
    effects: { ...effects, ...unrecorded },
  },
  getBatch: { activity: "verifyBatch", ...closes },
  listBatchAttachments: { activity: "verifyBatch", ...closes },
  queryRecipients: { activity: "verifyBatch", ...closes },
  startBatch: { activity: "startBatch", step: "start", ...closes },
  query: { activity: "watchItems", ...closes },
  deleteBatch: {
    activity: "deleteBatch",
    step: "cancel",
    outcome: "cancelledBeforeStart",
    variant: { input: { scheduledDate } },
    effects: {
      "evi-notice.createBatch": 1,
      "evi-notice.addRecipients": 1,
      "evi-notice.startBatch": 1,
      "evi-notice.deleteBatch": 1,
    },
    ask: (handle, updateId) => handle.cancel(updateId),
  },
};

export const sendNoticeBatchUnderTest: ProcessUnderTest<BatchHandle> = {
  process: "sendNoticeBatch",
  provider,
  words: "read,refused",
  outcome: "closed",
  effects,
  calls: callsOf<typeof provider, BatchHandle, Unused>(provider, batchCalls, {
    setBatchBody: "setBody",
  }),
  longWays: [
    {
      variant: { words: "received,delivered", input: { timeToLive: 60 * DAY_MINUTES } },
      outcome: "closed",
    },
    {
      variant: { words: "read,sent", input: { timeToLive: 30 * DAY_MINUTES } },
      outcome: "closed",
    },
    { variant: { words: "open,read" }, outcome: "openAtDeadline" },
  ],
  start(trustflow, id, { words = sendNoticeBatchUnderTest.words, input } = {}) {
    const more: Partial<SendNoticeBatchInput> = { settings: fastSettings, ...input };
    return trustflow.sendNoticeBatch(id, batchInput(id, words.split(","), more));
  },
};
