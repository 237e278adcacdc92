// Each wait that may be longer than a week ends when its time is over, neither earlier nor in silence, on the simulated Temporal in
// virtual time. A server ends an activity at once where its next attempt would come after its time: the simulated one does so too
// (test/simulation/temporal/engine.alone.test.ts).
import { afterAll, beforeAll, expect, test } from "vitest";
import { GoesOnLater, NotChangedYet } from "../../src/activities/runtime/failure.js";
import { isSatisfied } from "../../src/activities/runtime/polling.js";
import type { ProblemKind } from "../../src/contracts/shared/problem-kind.js";
import { ProviderError } from "../../src/providers/errors/provider-error.js";
import {
  batchFakes,
  batchPlan,
  decisions,
  document,
  oneShotFakes,
  place,
  submitted,
} from "./plans.js";
import { DAY_MS, DAY_SECONDS, START_MS, passing, startVirtualRuns } from "./virtual-run.js";
import type { Ended, FakeActivity, VirtualRuns } from "./virtual-run.js";

const POLL_DAYS = 0.25;
/** A wait is longer by the calls before and after it. */
const MINUTE_DAYS = 1 / 1_440;

const stampOf = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => (ms - START_MS) / DAY_MS;

/** What a provider's query shows, where only an answer that satisfies the question is an answer. */
const shows =
  (stateAt: (nowMs: number) => string, ends: string[] = ["Closed"]): FakeActivity =>
  (given, nowMs) => {
    const state = stateAt(nowMs);
    const isOver = ends.includes(state);
    if (!isSatisfied(given, state, isOver)) throw new NotChangedYet();
    const shown = {
      ...{ stamp: stampOf(nowMs), state, dates: {}, isOver, fingerprint: state },
      ...(state === "Closed" && { outcome: "Delivered" }),
    };
    return "stored" in given ? { snapshot: shown, documents: [], missing: 0 } : shown;
  };

const sent = shows(() => "Sent");

/** Between these days the provider answers no call. */
const failsBetween =
  (
    from: number,
    to: number,
    failure: { kind: ProblemKind; retryAfterMs?: number },
    found: FakeActivity,
  ): FakeActivity =>
  (given, nowMs) => {
    if (dayOf(nowMs) < from || dayOf(nowMs) > to) return found(given, nowMs);
    throw new ProviderError({
      ...{ provider: "evi-post", operation: "query", effect: "none", problem: "later" },
      ...failure,
    });
  };
/** The provider asks for three days of patience. */
const busy = { kind: "rateLimited", retryAfterMs: 3 * DAY_MS } as const;
const away = { kind: "unavailable" } as const;

const spans = {
  deadlineSeconds: 120 * DAY_SECONDS,
  pollIntervalSeconds: POLL_DAYS * DAY_SECONDS,
  askIntervalSeconds: 60,
  restingGraceSeconds: 3 * DAY_SECONDS,
  affidavitWindowSeconds: 0,
};
/** Each decision is accepted. */
const checkDecision: FakeActivity = ({ update, updateId, firstRunId }) => ({
  checked: { update, updateId, firstRunId },
});
const communication = (
  ask: FakeActivity,
  more: Partial<typeof spans> = {},
): Record<string, FakeActivity> => ({
  submit: (_, nowMs) => ({ ...submitted({ ...spans, ...more }), submittedAt: stampOf(nowMs) }),
  ask,
  checkDecision,
});

const batchSettings = {
  ...batchPlan.settings,
  ...{ affidavitWindowSeconds: 0, deadlineSeconds: 62 * DAY_SECONDS },
  ...{ pollIntervalSeconds: POLL_DAYS * DAY_SECONDS, askIntervalSeconds: 60 },
  progressIntervalSeconds: 30,
};
const totals = (open: number) => ({ at: stampOf(0), states: {}, failed: 0, open, isLast: true });
const unchanged = () => {
  throw new NotChangedYet();
};
/** As the real one: after its deadline it answers in any case. */
const watchItems: FakeActivity = ({ deadline }, nowMs) =>
  nowMs < Date.parse(deadline) ? unchanged() : totals(3);
/** As the real one before the collection, which takes `days`. */
const archiveAfter =
  (days: number): FakeActivity =>
  ({ deadline }, nowMs) => {
    const restMs = Date.parse(deadline) - nowMs;
    if (restMs > 0) throw new GoesOnLater(restMs);
    if (-restMs < days * DAY_MS) throw new NotChangedYet();
    return { archive: document, collected: 1, missing: 0 };
  };
const batch = (
  settings: Partial<typeof batchSettings>,
  more: Record<string, FakeActivity> = {},
): Record<string, FakeActivity> => ({
  ...batchFakes({
    ...batchPlan,
    settings: { ...batchSettings, ...settings },
    deadlineSeconds: batchSettings.deadlineSeconds,
  }),
  startBatch: (_, nowMs) => ({ startedAt: stampOf(nowMs) }),
  archiveAffidavits: archiveAfter(0),
  ...more,
});
const SLOWLY = { progressIntervalSeconds: POLL_DAYS * DAY_SECONDS };
const withAffidavits = { collectAffidavits: true, affidavitWindowSeconds: 60 * DAY_SECONDS };

const code = { sent: "sent" };
const dialogue = {
  ...{ holderDeadlineSeconds: 60 * DAY_SECONDS, otpTries: 3, otpResends: 3 },
  ...{ resendSpacingSeconds: 60, answerSeconds: 15 },
};
const certificate = (enroll: FakeActivity): Record<string, FakeActivity> => ({
  prepare: () => ({
    ...place,
    message: "m",
    settings: {
      ...dialogue,
      ...{ checkData: false, assertionTries: 3, assertionDeadlineSeconds: 60 * DAY_SECONDS },
    },
  }),
  enroll,
  sendOtp: () => code,
});
const enrolled: FakeActivity = (_, nowMs) => ({
  ...{ certIdOtp: 1, deviceCode: "c", enrolledAt: stampOf(nowMs) },
});

const oneShot = (plan: object, settings: object = {}): Record<string, FakeActivity> => ({
  ...oneShotFakes(plan, {
    ...{ ...spans, ...dialogue, deadlineSeconds: 30 * DAY_SECONDS },
    ...settings,
  }),
  create: (_, nowMs) => ({ requestPk: "r-1", createdAt: stampOf(nowMs) }),
  ask: shows(() => "signing", []),
});
/** A code of an earlier run was accepted. */
const accepted = { ...code, earlier: { occurrence: "0", isAnswered: true } };

/** What the looks of `serveNotice` find: the notice stays open for 300 days, and the post goes on for 100. */
const served: Record<string, FakeActivity> = {
  ...communication(sent),
  prepareNotice: () => ({
    ...place,
    ...{ input: {}, digest: "d", servedWhen: "read" },
    settings: { deadlineSeconds: 60 * DAY_SECONDS, lookIntervalSeconds: DAY_SECONDS },
  }),
  preparePost: () => ({
    ...{ ...place, input: {}, digest: "d", deadlineSeconds: 120 * DAY_SECONDS },
  }),
};
const lookAt: FakeActivity = ({ workflowId, wait, seen }, nowMs) => {
  const isPost = workflowId.startsWith("sendPostal");
  const [from, days, outcome] = isPost ? [60, 100, "delivered"] : [0, 300, "failed"];
  // The post is looked at once before it is started.
  const isStarted = dayOf(nowMs) >= from;
  const run = !isStarted ? "missing" : dayOf(nowMs) < from + days ? "open" : "completed";
  if (wait === "change" && run === seen) throw new NotChangedYet();
  const status = { phase: "tracking", references: {}, timeline: [] };
  const result = { outcome, references: {}, documents: [] };
  const startedAt = stampOf(START_MS + from * DAY_MS);
  return { fingerprint: run, found: { run, startedAt, status, result } };
};

const lateAffidavits = communication(
  shows(() => "Closed"),
  { affidavitWindowSeconds: 400 * DAY_SECONDS },
);

/** Refused again and again, until the letter is sixty days old. */
const cancelledLate = (): Record<string, FakeActivity> => {
  let isCancelled = false;
  return {
    ...communication(shows(() => (isCancelled ? "Closed" : "Sent"))),
    withdraw: () => "answered",
    cancel: (_, nowMs) => {
      if (dayOf(nowMs) < 60)
        throw new ProviderError({
          kind: "accessDenied",
          ...{ provider: "evi-post", operation: "cancel", effect: "none", problem: "denied" },
        });
      isCancelled = true;
      return { answer: "cancelled" };
    },
  };
};

interface Wait {
  what: string;
  process: string;
  found: Record<string, FakeActivity>;
  input?: object;
  /** Its length, and by how much it may be longer, where the pauses between attempts are by chance. */
  days: number;
  more?: number;
  /** Attempts that the server makes again leave none. */
  mostEvents?: number;
  /** It polls more often than the forty times that have a timer and an answer, twelve events each (docs/design.md §7). */
  polls?: true;
  result: object;
  cancel?: true;
  /** What a person decides after a month. */
  decided?: object;
}

const open = { outcome: "openAtDeadline" };
const attended = expect.arrayContaining(
  ["submit", "ask"].flatMap((step) =>
    ["Needs", "No longer needs"].map((needs) =>
      expect.objectContaining({ event: `${needs} an operator decision: ${step} (unavailable)` }),
    ),
  ),
);
const tracked = communication(failsBetween(1, 1.4, away, sent));
const waits: Wait[] = [
  {
    what: "a letter whose provider is away for hours before it is sent, and again while it is tracked",
    polls: true,
    ...{ process: "sendPostal", days: 120.2, more: 0.01 },
    result: { ...open, timeline: attended },
    found: { ...tracked, submit: failsBetween(0, 0.2, away, tracked["submit"]!) },
  },
  {
    what: "a letter that is delivered after sixty days, without a callback",
    polls: true,
    ...{ process: "sendPostal", days: 60, more: POLL_DAYS, result: { outcome: "delivered" } },
    found: communication(shows((nowMs) => (dayOf(nowMs) < 60 ? "Sent" : "Closed"))),
  },
  {
    what: "a letter that changes nothing until its deadline",
    polls: true,
    ...{ process: "sendPostal", days: 120, result: open },
    found: communication(sent),
  },
  {
    what: "a letter that is polled rarely until its deadline",
    ...{ process: "sendPostal", days: 120, result: open },
    found: communication(sent, { pollIntervalSeconds: 50 * DAY_SECONDS }),
  },
  {
    what: "a letter whose provider asks, at the deadline, for more patience than is left",
    polls: true,
    ...{ process: "sendPostal", days: 120, more: 4, result: open },
    found: communication(failsBetween(119, 121, busy, sent)),
  },
  {
    what: "a letter that rests in an end state and is never closed",
    polls: true,
    ...{ process: "sendPostal", days: 60 + POLL_DAYS, result: { outcome: "cancelled" } },
    found: communication(
      shows(() => "Cancelled"),
      { restingGraceSeconds: 60 * DAY_SECONDS },
    ),
  },
  {
    what: "the late affidavits of a letter",
    ...{ process: "sendPostal", days: 400 + POLL_DAYS, result: {} },
    found: lateAffidavits,
  },
  {
    what: "a letter whose cancellation is refused for long",
    ...{
      process: "sendPostal",
      days: 60,
      more: POLL_DAYS,
      // Each refusal leaves twelve: the pause before the next cancellation is a timer.
      mostEvents: 4_000,
      result: {},
      cancel: true,
    },
    found: cancelledLate(),
  },
  {
    what: "the late affidavits of a notice",
    ...{ process: "sendNotice", days: 400 + POLL_DAYS, result: {} },
    found: lateAffidavits,
  },
  {
    what: "the scheduled date of a batch",
    ...{ process: "sendNoticeBatch", days: 300, result: { outcome: "closed" } },
    found: batch(
      {},
      {
        startBatch: (_, nowMs) => ({
          ...{ startedAt: stampOf(nowMs), scheduledDate: stampOf(nowMs + 300 * DAY_MS) },
        }),
      },
    ),
  },
  {
    what: "a batch whose notices are not made until its deadline",
    ...{ process: "sendNoticeBatch", days: 62, result: open },
    found: batch(SLOWLY, { followBatch: unchanged, watchItems }),
  },
  {
    what: "the notices of a batch until its deadline",
    ...{ process: "sendNoticeBatch", days: 62, result: open },
    found: batch(SLOWLY, { watchItems }),
  },
  {
    what: "a batch whose provider asks, at the deadline, for more patience than is left",
    ...{ process: "sendNoticeBatch", days: 62, more: 4, result: open },
    found: batch(SLOWLY, { watchItems: failsBetween(61, 63, busy, watchItems) }),
  },
  {
    what: "the notices of a batch that are read every ten days",
    ...{ process: "sendNoticeBatch", days: 70, result: open },
    found: batch({ progressIntervalSeconds: 10 * DAY_SECONDS }, { watchItems }),
  },
  {
    what: "affidavits of a batch that are collected for nine days",
    ...{ process: "sendNoticeBatch", days: 69, result: { archive: document } },
    found: batch({ ...SLOWLY, ...withAffidavits }, { archiveAffidavits: archiveAfter(9) }),
  },
  // Seven of eight batches had no archive, because the delay of the first attempt was longer than what was left (issue 22).
  ...Array.from({ length: 8 }, (_, index) => ({
    what: `the affidavits of batch ${index}, by default settings`,
    ...{ process: "sendNoticeBatch", days: 60, result: { archive: document } },
    found: batch(withAffidavits),
  })),
  {
    what: "a notice that is not served, and then a letter",
    ...{ process: "serveNotice", days: 300, result: { outcome: "servedByPost" } },
    found: { ...served, lookAt },
  },
  {
    what: "a holder's code",
    ...{ process: "issueCertificate", days: 60, result: { outcome: "expired" } },
    found: certificate(enrolled),
  },
  {
    what: "another eID assertion",
    ...{ process: "issueCertificate", days: 60, result: { type: "NotAccepted" } },
    found: certificate(() => ({ refused: "expired", code: "239" })),
  },
  {
    what: "the acceptance of a contract",
    ...{ process: "signOneShot", days: 60, result: { outcome: "expired" } },
    found: oneShot({}, { requireContractAccepted: true }),
  },
  {
    what: "a decision on an identity video",
    polls: true,
    ...{ process: "signOneShot", days: 30, result: open },
    found: oneShot({ identityVideo: { evidences: [], video: document } }),
  },
  {
    what: "the end of an asynchronous signature",
    polls: true,
    ...{ process: "signOneShot", days: 30, result: open },
    found: {
      ...oneShot({ variant: "asynchronous" }),
      sendOtp: () => accepted,
    },
  },
  {
    what: "the verdict of an operator on a signature",
    ...{ process: "signOneShot", days: 30, more: 1, result: { outcome: "signed" } },
    found: {
      ...oneShot({ variant: "asynchronous", canRetrieve: false }),
      sendOtp: () => accepted,
      ...decisions,
      checkDecision,
    },
    decided: {
      ...{ attention: "signing-1", decision: "happened", by: "Ada" },
      result: { state: "signed" },
    },
  },
  {
    what: "the end of a video call",
    polls: true,
    ...{ process: "verifyIdentity", days: 30, result: open },
    input: { idConference: "c-1" },
    found: {
      prepare: () => ({
        ...{ ...place, alertOccurrence: "0", isRejected: false },
        settings: { ...spans, deadlineSeconds: 30 * DAY_SECONDS },
      }),
      claim: () => ({}),
      ask: shows(() => "open", []),
      keepConference: () => null,
      keepAudit: () => null,
    },
  },
];

/** More than the longest wait. */
const ALL_DAYS = 402;

let runs: VirtualRuns;
let ends: Ended[];

// All at once: the clock is the same for all.
beforeAll(async () => {
  runs = await startVirtualRuns();
  const each = <T>(act: (wait: Wait, index: number) => Promise<T>) =>
    passing(() => Promise.all(waits.map(act)));
  const handles = await each(({ process: processName, found, input }, index) =>
    runs.start(processName, `wait-${index}`, found, input),
  );
  await each(async ({ cancel }, index) => cancel && handles[index]!.cancel());
  await runs.pass(31);
  await each(
    async ({ decided }, index) =>
      decided && handles[index]!.executeUpdate("resolve", { args: [decided] }),
  );
  await runs.pass(ALL_DAYS - 31);
  ends = await each((_, index) => runs.endOf(handles[index]!));
}, 200_000);
afterAll(() => runs?.close());

test.each(waits)(
  "$what: $days days",
  ({ what, days, more = 0, polls, mostEvents = polls ? 120 + 40 * 12 : 120, result }) => {
    const end = ends[waits.findIndex((wait) => wait.what === what)]!;
    expect(end.result).toMatchObject(result);
    expect(end.days).toBeGreaterThanOrEqual(days);
    expect(end.days).toBeLessThan(days + more + MINUTE_DAYS);
    expect(end.events).toBeLessThan(mostEvents);
  },
);
