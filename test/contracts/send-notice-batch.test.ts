// What the contract of `sendNoticeBatch` takes and refuses, each with the field named (P2 §2.6, §2.8, §2.9, §8).
import { expect, test } from "vitest";
import { sendNoticeBatch } from "../../src/contracts/send-notice-batch/process.js";
import {
  batchStates,
  outcomeOfBroken,
  unstartedBatchStates,
} from "../../src/contracts/send-notice-batch/states.js";
import {
  SendNoticeBatchInput,
  SendNoticeBatchResult,
  SendNoticeBatchStatus,
} from "../../src/contracts/send-notice-batch/contract.js";
import type {
  BatchCounts,
  BatchRecipients,
} from "../../src/contracts/send-notice-batch/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { preflight } from "../../src/batch/recipients/preflight.js";
import { ReportCounter } from "../../src/batch/recipients/report.js";
import { all } from "../batch/recipients/lists.js";
import { trackedStatus } from "../harness/stack/tracked-status.js";

const hex = (digit: string, length: number) => digit.repeat(length);
const list = {
  uri: `document:${hex("a", 32)}`,
  sha256: hex("b", 64),
  size: 12,
  mediaType: "text/csv; charset=utf-8",
};
const input = { subject: "Subject", body: "<p>Body</p>", recipients: list };
const inline = { base64: "AAAA", mediaType: "text/csv" };
const attachment = { fileName: "a.txt", document: { base64: "AAAA", mediaType: "text/plain" } };

const everything = {
  description: "x".repeat(255),
  recipients: inline,
  onInvalid: "skip-invalid",
  uniqueRecipients: "addressAndLookupKey",
  scheduledDate: "2026-03-02T09:00:00Z",
  attachments: [attachment, { ...attachment, fileName: "b.txt" }],
  affidavitKinds: ["Submitted", "Closed"],
  affidavitLanguage: "es",
  timeToLive: 86_400,
  deliveryAppearance: { Logo: "x" },
  commitmentOptions: "AcceptOrReject",
  commitmentCommentsAllowed: true,
  rejectReasons: ["No"],
  acceptReasons: ["Yes"],
  requireRejectReason: true,
  requireAcceptReason: false,
  issuerName: "Us",
  from: "us",
  disableSenderHeader: true,
  replyTo: "us@example.com",
  costCentre: "7",
  certificationLevel: "Advanced_EU",
  language: "es",
  onlineRetentionPeriod: 5,
  ltaStorage: true,
  allowRefusal: true,
  ownerNotificationTemplate: "x",
  channel: "Email",
};

test.each([{}, everything])(
  "the least there is, and everything of P2 §2.8, are taken: %j",
  (more) => {
    expect(SendNoticeBatchInput.parse({ ...input, ...more })).toEqual({ ...input, ...more });
  },
);

test("the last scheduled date that is taken ends in a deadline that Elasticsearch keeps", () => {
  const scheduledDate = "2199-12-31T23:59:59Z";
  expect(SendNoticeBatchInput.safeParse({ ...input, scheduledDate }).success).toBe(true);
});

// Of the fields that it has in common with a notice: send-notice.test.ts.
test.each<[string, object]>([
  ["recipients", { recipients: undefined }],
  ["recipients.mediaType", { recipients: { ...inline, mediaType: "text/plain" } }],
  ["recipients.uri", { recipients: { ...list, uri: "recipients.csv" } }],
  ["onInvalid", { onInvalid: "skip" }],
  ["uniqueRecipients", { uniqueRecipients: "lookupKey" }],
  ["description", { description: "x".repeat(256) }],
  ["scheduledDate", { scheduledDate: "2026-03-02T09:00:00+01:00" }],
  ["scheduledDate", { scheduledDate: "2026-03-02" }],
  ["scheduledDate", { scheduledDate: "2200-01-01T00:00:00Z" }],
  ["scheduledDate", { scheduledDate: "9999-12-31T00:00:00Z" }],
  ["affidavitKinds", { affidavitKinds: ["Closed", "ContentDownload"] }],
  ["onlineRetentionPeriod", { onlineRetentionPeriod: 0 }],
  ["attachments.1.fileName", { attachments: [attachment, attachment] }],
  ["enforceTrackingUntilTimeToLive", { enforceTrackingUntilTimeToLive: true }],
  ["commitmentChoice", { commitmentChoice: "Accept" }],
  ["settings.failureBudgetCount", { settings: { failureBudgetCount: -1 } }],
  ["settings.failureBudgetPercent", { settings: { failureBudgetPercent: 101 } }],
  ["settings.progressIntervalSeconds", { settings: { progressIntervalSeconds: 0 } }],
])("%s is named", (path, more) => {
  const { fields } = checkInput(SendNoticeBatchInput, { ...input, ...more });
  expect(fields.map((field) => field.path)).toEqual([path]);
});

test.each([
  "state",
  "pushNotificationUrl",
  "batchPushNotificationUrl",
  "pushNotificationFilter",
  "pushNotificationExtraData",
])("%s belongs to the process", (path) => {
  const { fields } = checkInput(SendNoticeBatchInput, { ...input, [path]: "Submitted" });
  expect(fields).toEqual([{ path, problem: "must be left out: the process sets it" }]);
});

test("each setting has a default, which an input may say too", () => {
  const defaults = Object.entries(sendNoticeBatch.defaults).map(([name, given]) => [
    name,
    typeof given === "boolean" ? given : given.value,
  ]);
  const settings = Object.fromEntries(defaults) as object;
  expect(SendNoticeBatchInput.parse({ ...input, settings }).settings).toEqual(settings);
  const { shape } = SendNoticeBatchInput.shape.settings.unwrap();
  expect(Object.keys(settings).toSorted()).toEqual(Object.keys(shape).toSorted());
});

test("the states before the start, and those of a broken batch, are states of P2 §3.3", () => {
  const states = new Set<string>(batchStates);
  for (const state of unstartedBatchStates) expect(states).toContain(state);
  expect(batchStates.filter(outcomeOfBroken)).toEqual(["Invalid", "Failed"]);
});

const status = trackedStatus("sendNoticeBatch", "campaign-7");

test("the check of a list and the counts of a report stand in status and result as they are", async () => {
  const file = "address;legalname\nada@example.com;Ada\nbo;Bo\nbo;";
  const options = { onInvalid: "skip-invalid", unique: "address" } as const;
  const report = await preflight([Buffer.from(file)], options);
  const checked: BatchRecipients = {
    recipients: report.recipients,
    invalidRows: report.invalidRows,
    problems: report.counts,
  };
  const counter = new ReportCounter();
  await all(counter.of([{ address: "ada@example.com", state: "Closed", source: "query" }]));
  const counts: BatchCounts = counter.counts;
  const progress = { at: "2026-03-02T09:00:00Z", sentCount: 1, progressPercentage: 99.5 };
  const totals = { at: "2026-03-02T09:00:00Z", states: { Delivered: 1 } };
  const shown = { ...status, list: checked, progress, totals };
  expect(SendNoticeBatchStatus.parse(shown)).toEqual(shown);
  expect(SendNoticeBatchStatus.parse(status)).toEqual(status);
  const result = {
    process: "sendNoticeBatch",
    id: "campaign-7",
    outcome: "openAtDeadline",
    references: { batchId: "b" },
    dates: { startedAt: "2026-03-02T09:00:00Z" },
    documents: [],
    timeline: [],
    list: checked,
    counts,
    report: { csv: list, jsonLines: list },
  };
  expect(SendNoticeBatchResult.parse(result)).toEqual(result);
});
