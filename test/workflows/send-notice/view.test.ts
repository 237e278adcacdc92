// State and outcome of a notice, from the newest query alone (P2 §3.2, §3.4, §6.4). What the view shares with certified post is
// tested there.
import { expect, test } from "vitest";
import {
  excludedTransition,
  noticeView,
  reportsEnd,
} from "../../../src/workflows/send-notice/view.js";
import type { NoticeSnapshot } from "../../../src/workflows/send-notice/view.js";

const snapshot = (state: string, outcome: string): NoticeSnapshot => ({
  stamp: "2026-01-01T00:00:00.000Z",
  state,
  outcome,
  dates: {},
  fingerprint: "",
});
const event = (kind: string) => ({ id: kind, kind, at: "2026-03-01T00:00:00.000Z" });

test.each([
  ["Sent", "sent"],
  ["Certified", "certified"],
  ["Delivered", "delivered"],
  ["Received", "received"],
  ["Read", "read"],
  ["Refused", "refused"],
  ["Accepted", "accepted"],
  ["Rejected", "rejected"],
  ["Failed", "failed"],
  ["Cancelled", "cancelled"],
  ["Novel", "other", "Novel"],
])("the outcome %s is %s (P2 §3.4)", (word, outcome, providerOutcome?: string) => {
  const view = noticeView([], snapshot("Closed", word));
  expect(view).toMatchObject({ outcome, closed: true });
  expect(view.providerOutcome).toBe(providerOutcome);
});

test("Failed as a state is recoverable: nothing but Closed ends a notice (P2 §3.2)", () => {
  for (const state of ["Failed", "Replied", "Read", "Cancelled", "Refused"])
    expect(noticeView([], snapshot(state, "Failed"))).toMatchObject({
      closed: false,
      resting: false,
    });
  expect(noticeView([], snapshot("Closed", "Failed"))).toMatchObject({
    closed: true,
    outcome: "failed",
  });
  expect(["Failed", "Replied", "Closed"].filter((kind) => reportsEnd(event(kind)))).toEqual([
    "Closed",
  ]);
});

test("a transition that is excluded is named", () => {
  expect(excludedTransition(["Sent"], snapshot("Read", "Read"))).toBeUndefined();
  expect(excludedTransition(["Closed"], snapshot("Read", "Read"))).toContain("Closed is the end");
  expect(excludedTransition([], snapshot("Refused", "Refused"))).toContain("never a state");
});
