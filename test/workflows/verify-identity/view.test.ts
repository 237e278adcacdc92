// State and outcome of a video call, from the newest answer alone (P1 §6.1, §2.7; docs/reading-the-specification.md §6).
import { expect, test } from "vitest";
import fc from "fast-check";
import type { VideoSnapshot } from "../../../src/activities/video-identification/index.js";
import { VerifyIdentityResult } from "../../../src/contracts/verify-identity/contract.js";
import { videoView } from "../../../src/workflows/verify-identity/view.js";

const outcomes = VerifyIdentityResult.shape.outcome;

const word = fc.string({ minLength: 1, maxLength: 20 });
const states = fc.oneof(fc.constantFrom("open", "closed", "rejected"), word);
const verdicts = fc.oneof(fc.constantFrom("verified", "notVerified"), word);
const snapshots = fc
  .record({ state: states, verdict: fc.option(verdicts, { nil: undefined }) })
  .map(({ state, verdict }): VideoSnapshot => {
    const isOver = state === "closed" || state === "rejected";
    const fingerprint = [state, isOver, verdict].join(" ");
    const isProven = true;
    return {
      stamp: "1",
      state,
      isOver,
      isProven,
      fingerprint,
      ...(verdict !== undefined && { verdict }),
    };
  });
const events = fc.array(
  fc.record({
    id: fc.uuid(),
    kind: fc.oneof(fc.constantFrom("callClosed", "verified", "rejected"), word),
    at: fc.constant("2026-03-01T00:00:00.000Z"),
  }),
  { maxLength: 5 },
);

const shown = (state: string, verdict?: string) => {
  const isOver = state !== "open" && state !== "paused";
  const told = verdict === undefined ? {} : { verdict };
  return videoView([], { stamp: "1", state, isOver, isProven: true, fingerprint: "", ...told });
};

test.each([
  ["closed", "verified", "verified", undefined],
  ["closed", "notVerified", "notVerified", undefined],
  ["closed", undefined, "closed", undefined],
  ["closed", "manualReview", "other", "manualReview"],
  ["closed", "rejected", "other", "rejected"],
  ["rejected", undefined, "rejected", undefined],
  ["rejected", "verified", "rejected", undefined],
])("%s with the verdict %s is %s", (state, verdict, outcome, providerOutcome) => {
  const view = shown(state, verdict);
  expect(view).toMatchObject({ state, outcome, closed: true });
  expect(view.providerOutcome).toBe(providerOutcome);
});

test.each(["open", "paused"])("a verdict of a call that is %s is none yet", (state) => {
  expect(shown(state, "verified")).toEqual({ state, closed: false, resting: false, timeline: [] });
});

test("without an answer nothing has a state, whatever the callbacks say (P1 §6.1)", () => {
  fc.assert(
    fc.property(events, (callbacks) => {
      const { timeline, ...view } = videoView(callbacks, undefined);
      expect(view).toEqual({ closed: false, resting: false });
      expect(timeline.map(({ source }) => source)).toEqual(callbacks.map(() => "callback"));
    }),
  );
});

test("callbacks change the timeline, and nothing else", () => {
  fc.assert(
    fc.property(events, snapshots, (callbacks, snapshot) => {
      const { timeline: _, ...quiet } = videoView([], snapshot);
      const { timeline, ...told } = videoView(callbacks, snapshot);
      expect(told).toEqual(quiet);
      expect(timeline).toHaveLength(callbacks.length);
    }),
  );
});

test("an end has one of the contract's outcomes, and verified is said by the provider alone", () => {
  fc.assert(
    fc.property(snapshots, (snapshot) => {
      const { closed, outcome, providerOutcome } = videoView([], snapshot);
      expect(closed).toBe(snapshot.isOver);
      expect(outcome === undefined).toBe(!closed);
      if (closed) expect(outcomes.safeParse(outcome).success).toBe(true);
      if (outcome === "verified") expect(snapshot.verdict).toBe("verified");
      expect(outcome === "other").toBe(providerOutcome !== undefined);
      if (providerOutcome !== undefined) expect(providerOutcome).toBe(snapshot.verdict);
    }),
  );
});
