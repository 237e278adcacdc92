// State and outcome of a letter, from the newest query alone (P2 §2.5, §3.1). What the view shares with notices is tested in
// ../evi/view.test.ts.
import { expect, test } from "vitest";
import { excludedTransition, postalView } from "../../../src/workflows/send-postal/view.js";
import type { PostalSnapshot } from "../../../src/workflows/send-postal/view.js";

const closed = (outcome: string): PostalSnapshot => ({
  stamp: "2026-01-01T00:00:00.000Z",
  state: "Closed",
  outcome,
  dates: {},
  fingerprint: "",
});

test.each([
  ["None", "none"],
  ["Dispatched", "dispatched"],
  ["Sent", "sent"],
  ["Declined", "declined"],
  ["Rejected", "rejected"],
  ["Acknowledged", "acknowledged"],
  ["Hindered", "hindered"],
  ["Undelivered", "undelivered"],
  ["Failed", "failed"],
  ["Delivered", "delivered"],
  ["Disposed", "disposed"],
  ["Cancelled", "cancelled"],
  ["Expired", "expired"],
])("the outcome %s is %s (P2 §3.1)", (word, outcome) => {
  expect(postalView([], closed(word))).toMatchObject({ outcome, closed: true });
  expect(postalView([], closed(word)).providerOutcome).toBeUndefined();
});

test("an outcome that the specification does not name is other, with the provider's word (P2 §3.1)", () => {
  expect(postalView([], closed("Teleported"))).toMatchObject({
    outcome: "other",
    providerOutcome: "Teleported",
  });
});

test("LetterLite that closes as Delivered after non-delivery is flagged, others are not (P2 §3.1)", () => {
  const seen = ["Undelivered"];
  expect(excludedTransition(seen, closed("Delivered"), "LetterLite")).toMatch("LetterLite");
  expect(excludedTransition(seen, closed("Delivered"), "Registered")).toBeUndefined();
  expect(excludedTransition([], closed("Delivered"), "LetterLite")).toBeUndefined();
});

test.each(["Declined", "Acknowledged", "Hindered"])(
  "the outcome %s is flagged (P2 §3.1)",
  (word) => {
    expect(excludedTransition([], closed(word), "Registered")).toMatch(word);
  },
);

test.each(["Cancelled", "Disposed"])(
  "%s is the outcome too where the provider names none yet",
  (state) => {
    const resting = { ...closed("None"), state };
    expect(postalView([], resting)).toMatchObject({ resting: true, outcome: state.toLowerCase() });
    expect(postalView([], { ...resting, outcome: "Delivered" }).outcome).toBe("delivered");
  },
);
