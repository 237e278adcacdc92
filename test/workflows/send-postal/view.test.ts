// Callbacks may be lost, doubled, reordered or forged: after the final ask nothing of them is left in state and outcome.
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { excludedTransition, postalView } from "../../../src/workflows/send-postal/view.js";
import type { PostalSnapshot } from "../../../src/workflows/send-postal/view.js";

const kinds = [
  "Processed",
  "Dispatched",
  "Issued",
  "Sent",
  "Delivered",
  "Disposed",
  "Cancelled",
  "Closed",
];
const states = [...kinds, "Draft", "Submitted", "Failed", "Undelivered", "Missing", "Unheard"];
const words = ["None", "Sent", "Delivered", "Rejected", "Undelivered", "Cancelled", "Novel"];

const anyEvent: fc.Arbitrary<ProviderEvent> = fc.record(
  {
    id: fc.uuid(),
    kind: fc.constantFrom(...kinds),
    at: fc
      .date({ min: new Date("2026-01-01"), max: new Date("2026-12-31"), noInvalidDate: true })
      .map((date) => date.toISOString()),
    outcome: fc.constantFrom(...words),
    note: fc.string(),
  },
  { requiredKeys: ["id", "kind", "at"] },
);

const anySnapshot: fc.Arbitrary<PostalSnapshot> = fc.record(
  {
    stamp: fc.constant("2026-12-31T00:00:00.000Z"),
    state: fc.constantFrom(...states),
    outcome: fc.constantFrom(...words),
    dates: fc.constant({}),
    fingerprint: fc.string(),
  },
  { requiredKeys: ["stamp", "state", "dates", "fingerprint"] },
);

/** What must not depend on callbacks once the provider has been asked. */
function settled({
  state,
  outcome,
  providerOutcome,
  closed,
  resting,
}: ReturnType<typeof postalView>) {
  return { state, outcome, providerOutcome, closed, resting };
}

test("loss, forgery and doubling of callbacks change neither state nor outcome (P2 §6.4)", () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent),
      fc.infiniteStream(fc.boolean()),
      fc.array(anyEvent),
      anySnapshot,
      (genuine, kept, forged, snapshot) => {
        const arrived = genuine.filter(() => kept.next().value);
        const disturbed = postalView([...arrived, ...forged, ...arrived], snapshot);
        expect(settled(disturbed)).toEqual(settled(postalView(genuine, snapshot)));
        expect(settled(disturbed)).toEqual(settled(postalView([], snapshot)));
      },
    ),
    { numRuns: 500 },
  );
});

test("the order of arrival changes nothing, not even what is reported (P2 §6.4)", () => {
  fc.assert(
    fc.property(
      fc
        .uniqueArray(anyEvent, { selector: ({ id }) => id })
        .chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
        ),
      fc.option(anySnapshot, { nil: undefined }),
      ([events, shuffled], snapshot) => {
        const { timeline: _, ...view } = postalView(events, snapshot);
        const { timeline: __, ...other } = postalView(shuffled, snapshot);
        expect(other).toEqual(view);
      },
    ),
    { numRuns: 500 },
  );
});

test("without a query nothing is closed, whatever callbacks claim (P2 §5.6)", () => {
  fc.assert(
    fc.property(fc.array(anyEvent), (events) => {
      const view = postalView(events, undefined);
      expect(view).toMatchObject({ closed: false, resting: false });
      expect(view.outcome).toBeUndefined();
      expect(view.state).toBeUndefined();
    }),
  );
});

test("the newest Date is reported, ties by lifecycle rank (P2 §6.4)", () => {
  const at = "2026-03-01T00:00:00.000Z";
  const sent = { id: "b", kind: "Sent", at };
  const delivered = { id: "a", kind: "Delivered", at };
  const processed = { id: "c", kind: "Processed", at: "2026-03-02T00:00:00.000Z" };
  expect(postalView([delivered, sent], undefined).reportedState).toBe("Delivered");
  expect(postalView([delivered, sent, processed], undefined).reportedState).toBe("Processed");
});

test("an affidavit is no state (P2 §6.2)", () => {
  const affidavit = {
    id: "a",
    kind: "AffidavitPublished",
    at: "2026-03-02T00:00:00.000Z",
    affidavit: { id: "1" },
  };
  expect(postalView([affidavit], undefined).reportedState).toBeUndefined();
});

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
