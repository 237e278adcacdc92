// What the virtual clock takes over from Temporal: the delay of a retry, and the end of a timer.
import { join } from "node:path";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { msToTs } from "@temporalio/common/lib/time.js";
import { beforeEach, describe, expect, test } from "vitest";
import { CLOCK_SIGNAL, FAR_LIMIT_MS, FAR_MS, IDLE_MS } from "../src/clock/far.js";
import { follow } from "../src/clock/open-processes.js";
import { failureByClock } from "../src/clock/retry.js";
import { TimeLine } from "../src/clock/time-line.js";
import { VirtualClock } from "../src/clock/virtual-clock.js";
import { Trustflow } from "../src/index.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

const folder = await temporaryFolder();

test.each([
  [{ clok: "virtual" }, "options.clok: is not known; did you mean clock"],
  [{ clock: "real" }, 'options.clock: must be "virtual"'],
  [{ clock: "virtual", speed: 2 }, "options.speed: is not possible with a virtual clock"],
  [{ speed: "fast" }, "options.speed: must be a number above 0"],
  [{ env: { TRUSTFLOW_ATTENTION__RETRY_SECONDS: 2 } }, "RETRY_SECONDS: must be a text"],
  [null, "options: must be an object"],
])("a system with the options %j is refused", async (options, problem) => {
  await expect(Trustflow.embedded(options as never)).rejects.toThrow(problem);
});

test.each([
  ["advance", "sixty days"],
  ["advance", -1],
  ["advance", undefined],
  ["runUntil", "the end"],
] as const)("a clock refuses %s(%j) by the name of its argument", async (name, given) => {
  const clock = new VirtualClock({} as never);
  const path = name === "advance" ? "span" : "work";
  await expect(clock[name](given as never)).rejects.toThrow(`Invalid input: ${path}: must be `);
});

describe("a failed activity", () => {
  const retryPolicy = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 5_000 };
  const delayOf = (error: unknown, attempt = 1, leftMs = Infinity, policy = retryPolicy) => {
    const failure = failureByClock(error, { attempt, retryPolicy: policy }, leftMs);
    const { nonRetryable, nextRetryDelay } = failure as ApplicationFailure;
    return nonRetryable ? "final" : Number(nextRetryDelay) - FAR_MS;
  };

  test("waits for the interval of its policy, or for the delay that it asks for", () => {
    const attempts = [1, 2, 3, 4, 5].map((attempt) => delayOf(new Error("away"), attempt));
    expect(attempts).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(delayOf(ApplicationFailure.create({ nextRetryDelay: "2 hours" }))).toBe(7_200_000);
  });

  test("is idle where a regular poll found nothing new, or many attempts not what they looked for", () => {
    const failure = (type: string, nextRetryDelay: number) =>
      ApplicationFailure.create({ type, nextRetryDelay });
    const regular = { ...retryPolicy, backoffCoefficient: 1 };
    const idle = IDLE_MS - FAR_MS + 5_000;
    expect(delayOf(failure("unchanged", 5_000), 2, Infinity, regular)).toBe(idle);
    // It ends by the number of its attempts.
    expect(delayOf(failure("unchanged", 5_000), 1)).toBe(5_000);
    // There is more to do.
    expect(delayOf(failure("unchanged", 3_000), 2, Infinity, regular)).toBe(3_000);
    expect(delayOf(failure("notVisibleYet", 5_000), 16)).toBe(5_000);
    expect(delayOf(failure("notVisibleYet", 5_000), 17)).toBe(idle);
  });

  test("is final where the server would make no other attempt", () => {
    expect(delayOf(ApplicationFailure.nonRetryable("no"))).toBe("final");
    expect(delayOf(new Error("late"), 1, 999)).toBe("final");
    expect(delayOf(new Error("in time"), 1, 1_000)).toBe(1_000);
  });

  test("is left to the server where the server ends it by its policy, or where it was cancelled", () => {
    const last = failureByClock(
      new Error("last"),
      { attempt: 3, retryPolicy: { maximumAttempts: 3 } },
      1e9,
    );
    const named = ApplicationFailure.create({ type: "Named" });
    const byName = { attempt: 1, retryPolicy: { nonRetryableErrorTypes: ["Named"] } };
    const cancelled = new CancelledFailure("enough");
    expect((last as ApplicationFailure).nextRetryDelay).toBeUndefined();
    expect(failureByClock(named, byName, 1e9)).toBe(named);
    expect(failureByClock(cancelled, byName, 1e9)).toBe(cancelled);
  });
});

describe("the waits of a history", () => {
  const started = (timerId: string, second: number, ms: number) => ({
    eventTime: msToTs(second * 1_000),
    timerStartedEventAttributes: { timerId, startToFireTimeout: msToTs(FAR_MS + ms) },
  });
  const cancelled = (timerId: string) => ({
    eventTime: msToTs(0),
    timerCanceledEventAttributes: { timerId },
  });
  let ends: Parameters<typeof follow>[0];
  beforeEach(() => {
    ends = { timers: new Map(), limits: new Map() };
  });
  const signal = (signalName: string, second: number) => ({
    eventTime: msToTs(second * 1_000),
    workflowExecutionSignaledEventAttributes: { signalName },
  });

  test("are timers, which are due by the clock until they are cancelled, or a signal of the clock finds them due", () => {
    const after = (...events: object[]) => {
      follow(ends, events, (real) => real);
      return [...ends.timers.values()];
    };
    expect(
      after(started("1", 1, 5_000), started("2", 2, 90_000), started("3", 2, 1), cancelled("3")),
    ).toEqual([6_000, 92_000]);
    expect(after(signal("providerEvents", 50))).toEqual([6_000, 92_000]);
    expect(after(signal(CLOCK_SIGNAL, 6))).toEqual([92_000]);
  });

  test("come with the ends of activities that have a time limit", () => {
    const activity = (activityId: string, scheduleToCloseTimeout: object) => ({
      eventTime: msToTs(1_000),
      activityTaskScheduledEventAttributes: { activityId, scheduleToCloseTimeout },
    });
    follow(ends, [activity("1", msToTs(FAR_LIMIT_MS + 500)), activity("2", {})], (real) => real);
    expect([...ends.limits]).toEqual([["1", 1_500]]);
  });

  test("show a worker that has no virtual clock", () => {
    const real = { ...started("1", 1, 0) };
    real.timerStartedEventAttributes.startToFireTimeout = msToTs(5_000);
    expect(() => follow(ends, [real], (time) => time)).toThrow("has no virtual clock");
  });
});

test("a real time has one virtual time, in each program and at each later look", () => {
  const file = join(folder, "clock");
  const [one, other] = [new TimeLine(file), new TimeLine(file)];
  expect(() => other.now()).toThrow("clock");
  one.step(1_000);
  const before = Date.now();
  expect([other.now(), one.at(0)]).toEqual([1_000, 1_000]);
  while (Date.now() === before);
  one.step(90_000);
  expect([other.now(), other.at(before)]).toEqual([90_000, 1_000]);
});
