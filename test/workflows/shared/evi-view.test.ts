// What the views of certified post and of notices share: callbacks may be lost, doubled, reordered or forged, and after the final
// ask nothing of them is left in state and outcome.
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { noticeOutcomes, noticeStates } from "../../../src/contracts/send-notice/states.js";
import { postalOutcomes, postalStates } from "../../../src/contracts/send-postal/states.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { noticeView } from "../../../src/workflows/send-notice/view.js";
import { postalView } from "../../../src/workflows/send-postal/view.js";
import type { EviSnapshot } from "../../../src/activities/evi/ask.js";
import type { EviView } from "../../../src/workflows/shared/evi-view.js";

interface ViewUnderTest {
  process: string;
  states: readonly string[];
  outcomes: readonly string[];
  view(events: ProviderEvent[], snapshot: EviSnapshot | undefined): EviView;
}

const views: ViewUnderTest[] = [
  { process: "sendPostal", states: postalStates, outcomes: postalOutcomes, view: postalView },
  { process: "sendNotice", states: noticeStates, outcomes: noticeOutcomes, view: noticeView },
];

/** What must not depend on callbacks once the provider has been asked. */
function settled({ state, outcome, providerOutcome, closed, resting }: EviView) {
  return { state, outcome, providerOutcome, closed, resting };
}

describe.each(views)("$process", ({ states, outcomes, view }) => {
  const words = [...outcomes.map((word) => word[0]?.toUpperCase() + word.slice(1)), "Novel"];

  const anyEvent: fc.Arbitrary<ProviderEvent> = fc.record(
    {
      id: fc.uuid(),
      kind: fc.constantFrom(...states),
      at: fc
        .date({ min: new Date("2026-01-01"), max: new Date("2026-12-31"), noInvalidDate: true })
        .map((date) => date.toISOString()),
      outcome: fc.constantFrom(...words),
      note: fc.string(),
    },
    { requiredKeys: ["id", "kind", "at"] },
  );

  const anySnapshot: fc.Arbitrary<EviSnapshot> = fc.record(
    {
      stamp: fc.constant("2026-12-31T00:00:00.000Z"),
      state: fc.constantFrom(...states, "Unheard"),
      outcome: fc.constantFrom(...words),
      dates: fc.constant({}),
      fingerprint: fc.string(),
    },
    { requiredKeys: ["stamp", "state", "dates", "fingerprint"] },
  );

  test("loss, forgery and doubling of callbacks change neither state nor outcome (P2 §6.4)", () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent),
        fc.infiniteStream(fc.boolean()),
        fc.array(anyEvent),
        anySnapshot,
        (genuine, kept, forged, snapshot) => {
          const arrived = genuine.filter(() => kept.next().value);
          const disturbed = view([...arrived, ...forged, ...arrived], snapshot);
          expect(settled(disturbed)).toEqual(settled(view(genuine, snapshot)));
          expect(settled(disturbed)).toEqual(settled(view([], snapshot)));
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
            fc.tuple(
              fc.constant(events),
              fc.shuffledSubarray(events, { minLength: events.length }),
            ),
          ),
        fc.option(anySnapshot, { nil: undefined }),
        ([events, shuffled], snapshot) => {
          const { timeline: _, ...inOrder } = view(events, snapshot);
          const { timeline: __, ...other } = view(shuffled, snapshot);
          expect(other).toEqual(inOrder);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("without a query nothing is closed, whatever callbacks claim (P2 §5.6)", () => {
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const seen = view(events, undefined);
        expect(seen).toMatchObject({ closed: false, resting: false });
        expect(seen.outcome).toBeUndefined();
        expect(seen.state).toBeUndefined();
      }),
    );
  });

  test("the newest Date is reported, ties by lifecycle rank (P2 §6.4)", () => {
    const at = "2026-03-01T00:00:00.000Z";
    const sent = { id: "b", kind: "Sent", at };
    const delivered = { id: "a", kind: "Delivered", at };
    const processed = { id: "c", kind: "Processed", at: "2026-03-02T00:00:00.000Z" };
    expect(view([delivered, sent], undefined).reportedState).toBe("Delivered");
    expect(view([delivered, sent, processed], undefined).reportedState).toBe("Processed");
  });

  test("an affidavit is no state (P2 §6.2)", () => {
    const affidavit = {
      id: "a",
      kind: "AffidavitPublished",
      at: "2026-03-02T00:00:00.000Z",
      affidavit: { id: "1" },
    };
    expect(view([affidavit], undefined).reportedState).toBeUndefined();
    const { affidavit: _, ...withoutId } = affidavit;
    expect(view([withoutId], undefined).reportedState).toBeUndefined();
  });
});
