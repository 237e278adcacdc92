// The submission of a notice as it leaves, and the spans that are fixed for its run (P2 §2.6, §6.1, §6.2).
import { expect, test } from "vitest";
import { settingsOf, submissionOf } from "../../../src/activities/evi-notice/submit.js";
import { filterValues } from "../../../packages/sandbox/src/providers/evi-notice/submission.js";
import { noticeInput, withAttachment } from "../../processes/send-notice/inputs.js";

const callback = { url: "https://example.com/callbacks/1", correlation: "c" };

test("our own key stands behind the caller's, and the filter is complete (P2 §6.2)", () => {
  const input = noticeInput("order-7", "read", {
    attachments: [withAttachment()],
    evidenceAccessControlChallengeResponse: "Rex",
    providerFields: { NotificationChannel: "Email" },
  });
  const submission = submissionOf(input, [Buffer.from("content")], "key", callback);
  expect(submission).toMatchObject({
    lookupKey: "order-7::key",
    attachments: [{ fileName: "terms.txt", mimeType: "text/plain", includeOnAffidavits: true }],
    providerFields: { NotificationChannel: "Email" },
    pushNotificationUrl: callback.url,
    pushNotificationExtraData: "c",
  });
  expect(submission.attachments?.[0]?.bytes.toString()).toBe("content");
  expect(submission.pushNotificationFilter).toEqual(filterValues);
  expect(JSON.stringify(submission)).not.toContain("Rex");
  expect(submission.evidenceAccessControlChallengeResponse?.reveal()).toBe("Rex");
  const { lookupKey: _, ...without } = input;
  expect(submissionOf(without, [], "key", callback).lookupKey).toBe("key");
});

test("the deadline is the caller's, else the time to live and a margin, else the configured one", () => {
  const configured = {
    affidavitWindowSeconds: 1,
    deadlineSeconds: 100_000,
    deadlineMarginSeconds: 500,
    pollIntervalSeconds: 2,
    askIntervalSeconds: 3,
  };
  const of = (given: Parameters<typeof settingsOf>[1]) => settingsOf(configured, given);
  expect(of({})).toEqual(configured);
  expect(of({ timeToLive: 60 }).deadlineSeconds).toBe(3_600 + 500);
  expect(of({ timeToLive: 60, settings: { deadlineMarginSeconds: 10 } }).deadlineSeconds).toBe(
    3_610,
  );
  expect(of({ timeToLive: 60, settings: { deadlineSeconds: 7 } }).deadlineSeconds).toBe(7);
});
