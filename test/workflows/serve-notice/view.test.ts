// When a notice is served, and how the two ends make one outcome (P2 §3.1, §3.2; docs/decisions/0031).
import { expect, test } from "vitest";
import fc from "fast-check";
import { noticeOutcomes, noticeStates } from "../../../src/contracts/send-notice/states.js";
import { servedWhens } from "../../../src/contracts/serve-notice/states.js";
import { noticeStanding, outcomeOf } from "../../../src/workflows/serve-notice/view.js";

const state = fc.constantFrom(...noticeStates, undefined);
const outcome = fc.constantFrom(...noticeOutcomes, "openAtDeadline", "other", undefined);
const seen = fc.record({ state, outcome, isEnded: fc.boolean() });

test.each([
  ["read", "Read", undefined, "served"],
  ["read", "Replied", undefined, "served"],
  ["read", "Received", undefined, "open"],
  ["received", "Received", undefined, "served"],
  ["received", "Delivered", undefined, "open"],
  ["delivered", "Delivered", undefined, "served"],
  ["read", "Closed", "accepted", "served"],
  ["read", "Closed", "rejected", "served"],
  ["read", "Closed", "received", "unserved"],
  ["delivered", "Closed", "received", "served"],
  ["read", "Closed", "failed", "unserved"],
  ["read", "Delivered", "refused", "unserved"],
  ["read", "Delivered", "cancelled", "unserved"],
] as const)("served when %s: the state %s with the outcome %s is %s", (...row) => {
  const [when, shown, said, standing] = row;
  expect(noticeStanding({ state: shown, outcome: said, isEnded: false }, when)).toBe(standing);
});

test("a notice that has failed may still be delivered: it is open until its close", () => {
  const failed = { state: "Failed", outcome: "failed", isEnded: false };
  expect(noticeStanding(failed, "read")).toBe("open");
  expect(noticeStanding({ ...failed, isEnded: true }, "read")).toBe("unserved");
});

test("a notice whose process has given up is open: it may have been served since", () => {
  const givenUp = { outcome: "openAtDeadline", isEnded: true };
  expect(noticeStanding(givenUp, "delivered")).toBe("open");
});

test("what serves at a later state serves at each earlier one", () => {
  fc.assert(
    fc.property(seen, (one) => {
      const served = servedWhens.map((when) => noticeStanding(one, when) === "served");
      expect(served).toEqual(served.toSorted((a, b) => Number(b) - Number(a)));
    }),
  );
});

test.each([
  [true, "read", undefined, "servedByNotice"],
  [true, "read", "undelivered", "servedByNotice"],
  [true, "read", "delivered", "servedByBoth"],
  [false, "refused", "delivered", "servedByPost"],
  [false, "refused", "undelivered", "notServed"],
  [false, "refused", "openAtDeadline", "openAtDeadline"],
  [false, "openAtDeadline", "undelivered", "notServed"],
  [false, "openAtDeadline", undefined, "openAtDeadline"],
  [false, "refused", undefined, "notServed"],
] as const)("notice served: %s (%s), post: %s is %s", (isServed, notice, post, expected) => {
  const letter = post === undefined ? undefined : { outcome: post };
  expect(outcomeOf(isServed, { outcome: notice }, letter)).toBe(expected);
});
