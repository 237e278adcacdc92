// How long the quick phase of a step continues while its provider is unavailable: each attempt passes the time of the outage so far, with
// the pause that follows, to the next one in its heartbeat.
import { expect, onTestFinished, test, vi } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import { asActivity, GoesOnLater } from "../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../src/activities/runtime/failure.js";
import { EffectAbsentOnce, EffectInFlight, JournalUnavailable } from "../../src/journal/errors.js";
import { CircuitOpenError } from "../../src/activities/runtime/circuit-breaker.js";
import { measured } from "../../src/activities/runtime/call-metrics.js";
import { inAttempt, providerError } from "./attempts.js";
import type { ProblemKind } from "../../src/contracts/shared/problem-kind.js";

const LIMIT_MS = 60_000;
const away = (kind: ProblemKind = "unavailable", retryAfterMs?: number) =>
  providerError(kind, { retryAfterMs });

interface Given {
  awayMs?: number | undefined;
  attempt?: number;
  mode?: AttemptMode;
  /** How long it waited for a worker. */
  queuedMs?: number;
}

interface AttemptResult {
  message: string;
  nonRetryable: boolean;
  delayMs: number;
  /** What the next attempt receives. */
  awayMs: number | undefined;
}

/** One attempt that meets an error; the provider has not answered for `awayMs`. */
async function attempt(
  met: Error | (() => Promise<never>),
  { awayMs, attempt: number = 1, mode = "quick", queuedMs = 0 }: Given = {},
): Promise<AttemptResult> {
  const heartbeatDetails = awayMs === undefined ? undefined : { awayMs };
  const currentAttemptScheduledTimestampMs = Date.now() - queuedMs;
  let left: { awayMs?: number } | undefined;
  const context = {
    provider: "evi-post",
    operation: "submit",
    environment: "sandbox",
    account: "default",
    mode,
    patienceMs: 180_000,
    unavailableForMs: LIMIT_MS,
    invisibleForMs: LIMIT_MS,
  };
  const run = inAttempt(
    () => asActivity(context, met instanceof Error ? () => Promise.reject(met) : met),
    { attempt: number, heartbeatDetails, currentAttemptScheduledTimestampMs },
    { onHeartbeat: (details) => (left = details as typeof left) },
  );
  const failure = await run.catch((failed: unknown) => failed as ApplicationFailure);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  const { message, nonRetryable, nextRetryDelay } = failure;
  return {
    message,
    nonRetryable: nonRetryable === true,
    delayMs: Number(nextRetryDelay),
    awayMs: left?.awayMs,
  };
}

test.each([
  ["away", away()],
  ["refusing for its rate", away("rateLimited")],
  ["without our journal", new JournalUnavailable(undefined)],
  ["silent to a submit that is looked for", new EffectAbsentOnce("submit", 1_000, away())],
])("a provider that is %s for as long as is configured is a person's matter", async (_, error) => {
  const first = await attempt(error);
  expect(first.nonRetryable).toBe(false);
  expect(first.awayMs).toBeLessThan(10_000);
  const early = await attempt(error, { awayMs: LIMIT_MS - 10_000, attempt: 9 });
  expect(early.nonRetryable).toBe(false);
  expect(early.awayMs).toBeGreaterThan(LIMIT_MS - 10_000 + early.delayMs);
  expect((await attempt(error, { awayMs: LIMIT_MS, attempt: 9 })).nonRetryable).toBe(true);
});

test("the time begins with the first attempt, however long that waited for its answer", async () => {
  const { awayMs = 0, delayMs } = await attempt(() => delay(20).then(() => Promise.reject(away())));
  expect(awayMs - delayMs).toBeGreaterThan(15);
});

test("the time that attempts wait for a worker is no time of the provider's", async () => {
  const queuedMs = 2 * LIMIT_MS;
  const first = await attempt(away(), { queuedMs });
  const second = await attempt(away(), { queuedMs, awayMs: first.awayMs, attempt: 2 });
  expect(second).toMatchObject({ nonRetryable: false });
  expect(second.awayMs).toBeLessThan(10_000);
});

test("one failure late in a poll is tried again at once, however many attempts went well", async () => {
  const { delayMs } = await attempt(away(), { attempt: 40 });
  expect(delayMs).toBeLessThan(2_000);
  const later = await attempt(away(), { attempt: 41, awayMs: 20_000 });
  expect(later.delayMs).toBeGreaterThan(10_000);
});

/** An attempt in which one operation is answered, and then one is not. */
const answeredThen = (operation: string, error: Error) => async () => {
  await measured("evi-post", operation, async () => undefined)();
  throw error;
};

test("an operation that was answered is away from then on, although the attempt or the outage began long before", async () => {
  const late = answeredThen("submit", away());
  const answered = await attempt(late, { awayMs: LIMIT_MS, attempt: 9 });
  expect(answered.nonRetryable).toBe(false);
  expect(answered.awayMs).toBeLessThan(10_000);
});

test("the answer to a look-up does not end the time of a submit that gets none", async () => {
  const submit = answeredThen("query", away());
  expect(await attempt(submit, { awayMs: LIMIT_MS })).toMatchObject({ nonRetryable: true });
});

test("a circuit that opens during an attempt counts from the last answer to any operation", async () => {
  const about = { provider: "evi-post", operation: "submit", problem: "a test" };
  const open = new CircuitOpenError({ ...about, kind: "unavailable", effect: "none" });
  let last = Infinity;
  const work = async () => {
    await answeredThen("submit", open)().catch(() => delay(50));
    last = Date.now();
    return answeredThen("query", open)();
  };
  const { awayMs = Infinity, delayMs } = await attempt(work, { awayMs: 30_000 });
  expect(awayMs - delayMs).toBeLessThan(Date.now() - last + 25);
});

test("what has not changed is asked for when it says so, not some per cent later", async () => {
  const { delayMs } = await attempt(new GoesOnLater(5_184_000_000), { attempt: 40 });
  expect(delayMs).toBe(5_184_000_000);
});

test("the last quick attempt is made when the time is over, not at the next step of the backoff", async () => {
  const { delayMs } = await attempt(away(), { awayMs: LIMIT_MS - 5_000, attempt: 12 });
  expect(delayMs).toBeGreaterThan(0);
  expect(delayMs).toBeLessThanOrEqual(5_000);
});

test("a Retry-After is never cut short: one that ends too late is a person's matter at once", async () => {
  const { delayMs, nonRetryable } = await attempt(away("rateLimited", 20_000), { awayMs: 1_000 });
  expect(delayMs).toBeGreaterThanOrEqual(20_000);
  expect(nonRetryable).toBe(false);
  const late = await attempt(away("rateLimited", 40_000), { awayMs: 30_000 });
  expect(late.nonRetryable).toBe(true);
});

test.each([
  ["nothing", 0, {}, 800],
  ["nothing, while a person knows", 0, { mode: "send" as const }, 800],
  ["a second", 1_000, { awayMs: 20_000 }, 16_000],
])("a Retry-After of %s does not shorten the growing pauses", async (_, asked, given, least) => {
  const { delayMs } = await attempt(away("rateLimited", asked), given);
  expect(delayMs).toBeGreaterThanOrEqual(least);
});

test.each([
  ["an attempt that is under way", new EffectInFlight("submit", 1_000)],
  ["one that takes longer than the time that is left", new EffectInFlight("submit", 40_000)],
  ["a look-up whose time has not come", new EffectAbsentOnce("submit", 1_000)],
])("%s neither begins nor ends the time", async (_, error) => {
  expect(await attempt(error)).toMatchObject({ nonRetryable: false, awayMs: undefined });
  const { awayMs, nonRetryable } = await attempt(error, { awayMs: 30_000 });
  expect(awayMs).toBeGreaterThan(30_000);
  expect(nonRetryable).toBe(false);
});

test.each([
  [new JournalUnavailable({ code: "ECONNREFUSED" }), "cannot reach the journal (ECONNREFUSED)"],
  [new EffectInFlight("submit", 1), 'step "submit" is being sent by another worker'],
])(
  "a failure of the journal has its cause once, without a word of our code",
  async (error, cause) => {
    expect((await attempt(error)).message).toBe(`evi-post submit: unavailable, ${cause}`);
  },
);

test("an answer ends the time", async () => {
  const answered = await attempt(away("notVisibleYet"), { awayMs: LIMIT_MS });
  expect(answered).toMatchObject({ nonRetryable: false, awayMs: undefined });
  const random = vi.spyOn(Math, "random").mockReturnValue(1);
  onTestFinished(() => random.mockRestore());
  const { delayMs } = await attempt(away("notVisibleYet"), { attempt: 5 });
  expect(delayMs).toBe(1.2 * 16_000);
});

test("the patient phase goes on without end", async () => {
  const { nonRetryable, delayMs } = await attempt(away(), { awayMs: 9 * LIMIT_MS, mode: "send" });
  expect(nonRetryable).toBe(false);
  expect(delayMs).toBeGreaterThanOrEqual(180_000 * 0.8);
});

test("every heartbeat says where the call is made, also that of an attempt that fails", async () => {
  const context = {
    ...{ provider: "evi-post", operation: "submit", environment: "sandbox", account: "other" },
    ...{ mode: "quick" as const, patienceMs: 1, unavailableForMs: LIMIT_MS },
    invisibleForMs: LIMIT_MS,
  };
  const left: unknown[] = [];
  const met = () => delay(1_700).then(() => Promise.reject(away()));
  const options = { onHeartbeat: (details: unknown) => void left.push(details) };
  const failure = await inAttempt(() => asActivity(context, met), {}, options).catch(
    (error: unknown) => error as ApplicationFailure,
  );
  const place = { environment: "sandbox", account: "other" };
  expect(left).toEqual([place, { ...place, awayMs: expect.any(Number) }]);
  expect(failure).toMatchObject({ message: "evi-post submit: unavailable, a test" });
});
