// Why a recipient was not reached: a reason for each outcome of P2 §3.2 that is no success, and for each state before it.
import { expect, test } from "vitest";
import { noticeOutcomes, noticeStates } from "../../../src/contracts/send-notice/states.js";
import { reasonOf } from "../../../src/batch/recipients/reason.js";

const reached = ["delivered", "received", "read", "accepted"];
const notReached: [string, RegExp][] = [
  ["none", /without an outcome: nothing shows that the notice reached/],
  ["certified", /was certified: nothing shows that the notice reached/],
  ["sent", /was sent: nothing shows that the notice reached/],
  ["rejected", /read the notice and answered with no/],
  ["failed", /provider could not deliver/],
  ["cancelled", /was cancelled/],
  ["refused", /recipient refused/],
];

test("the table below has each outcome", () => {
  const all = [...reached, ...notReached.map(([outcome]) => outcome)];
  expect(all.toSorted()).toEqual([...noticeOutcomes].toSorted());
});

test.each(notReached)("closed as %s has a reason", (outcome, reason) => {
  expect(reasonOf({ state: "Closed", outcome }).reason).toMatch(reason);
});

test.each(reached)("closed as %s has none", (outcome) => {
  expect(reasonOf({ state: "Closed", outcome })).toEqual({});
});

const open = noticeStates.filter((state) => state !== "Closed");
const reachedOpen = new Set(["Delivered", "Received", "Read", "Replied"]);
test.each(open)(
  "an open notice that is %s has a reason until it reached the recipient",
  (state) => {
    const { reason } = reasonOf({ state, outcome: "none" });
    expect(reason === undefined).toBe(reachedOpen.has(state));
    expect(reason ?? "").not.toContain("another name");
  },
);

test("a failure that is not final is said to be so", () => {
  expect(reasonOf({ state: "Failed" }).reason).toContain("may try again");
});

test.each([{}, { state: "Closed" }, { state: "Closed", outcome: "toString" }, { state: "Lost" }])(
  "%j has a reason",
  (row) => {
    expect(reasonOf(row).reason).toBeTruthy();
  },
);

test("what the provider says beside the outcome is not repeated", () => {
  const words = { state: "Closed", outcome: "ana@example.com moved" };
  expect(reasonOf(words).reason).not.toContain("ana");
});
