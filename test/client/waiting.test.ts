// How long a call waits for its answer, and what is left of it at the end of the wait; the connection is the test's.
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { ConnectionLike } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import { InvalidInputError, TimedOutError } from "../../src/client.js";
import { isOfAbort, typedRefusal } from "../../src/client/refusal.js";
import { beginWait, closeWhenIdle } from "../../src/client/waiting.js";

const DAY_MS = 86_400_000;
const silence = new Promise<never>(() => undefined);

afterEach(() => {
  vi.useRealTimers();
});

test.each([30 * DAY_MS, 60 * DAY_MS, Infinity])(
  "a wait of %d ms has an answer that comes",
  async (timeoutMs) => {
    expect(await beginWait({ timeoutMs })(() => delay(50, "the answer"))).toBe("the answer");
  },
);

test("a wait of 60 days ends after 60 days, and leaves no timer", async () => {
  vi.useFakeTimers();
  const timeoutMs = 60 * DAY_MS;
  const ended = vi.fn();
  const wait = beginWait({ timeoutMs })(() => silence).catch(ended);
  await vi.advanceTimersByTimeAsync(timeoutMs - 1);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await wait;
  expect(ended).toHaveBeenCalledWith(new TimedOutError(timeoutMs));
  await beginWait({ timeoutMs })(async () => "the answer");
  expect(vi.getTimerCount()).toBe(0);
});

test.each([-1, NaN])("%d is no time, which the promise says", async (timeoutMs) => {
  const call = vi.fn(async () => "the answer");
  const wait = beginWait({ timeoutMs })(call);
  await expect(wait).rejects.toThrow(InvalidInputError);
  await expect(wait).rejects.toThrow("timeoutMs");
  expect(call).not.toHaveBeenCalled();
});

function ownConnection(): ConnectionLike {
  const connection: Pick<ConnectionLike, "withAbortSignal" | "withDeadline"> = {
    withAbortSignal: (_, call) => call(),
    withDeadline: (_, call) => call(),
  };
  return connection as ConnectionLike;
}

/** A promise and what settles it. */
function pending() {
  let resolve: (answer: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test("a connection closes at once, and after the calls whose callers wait no more", async () => {
  const connection = ownConnection();
  const close = vi.fn(async () => undefined);
  const going = pending();
  const goes = beginWait({ timeoutMs: 60_000 }, connection)(() => going.promise);
  await closeWhenIdle(connection, close);
  expect(close).toHaveBeenCalledTimes(1);
  const lost = pending();
  const wait = beginWait({ timeoutMs: 100 }, connection)(() => lost.promise);
  await expect(wait).rejects.toThrow(TimedOutError);
  await closeWhenIdle(connection, close);
  await delay(20);
  expect(close).toHaveBeenCalledTimes(1);
  lost.resolve("too late");
  await delay(20);
  expect(close).toHaveBeenCalledTimes(2);
  going.resolve("the answer");
  expect(await goes).toBe("the answer");
});

test("a close that nobody waits for fails in silence", async () => {
  const connection = ownConnection();
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  onTestFinished(() => void process.off("unhandledRejection", unhandled));
  const lost = pending();
  const wait = beginWait({ timeoutMs: 100 }, connection)(() => lost.promise);
  await expect(wait).rejects.toThrow(TimedOutError);
  const close = vi.fn(() => Promise.reject(new Error("is closed")));
  await closeWhenIdle(connection, close);
  lost.resolve("too late");
  await delay(20);
  expect(close).toHaveBeenCalledTimes(1);
  expect(unhandled).not.toHaveBeenCalled();
});

test("an abort is no refusal of Temporal", () => {
  const { reason } = AbortSignal.abort() as { reason: DOMException };
  expect(typedRefusal(reason, "default")).toBe(reason);
  const own = Object.assign(new Error("the user has left"), { code: 7 });
  const signal = AbortSignal.abort(own);
  const cancelled = Object.assign(new Error("Cancelled on client"), { code: 1 });
  for (const error of [own, cancelled, new Error("broken off", { cause: cancelled })])
    expect(typedRefusal(error, "default", signal)).toBe(own);
  const { signal: open } = new AbortController();
  expect(isOfAbort(cancelled, open)).toBe(false);
  expect(typedRefusal(cancelled, "default", open)).toMatchObject({ code: "temporalRefused" });
  const denied = Object.assign(new Error("no right"), { code: 7 });
  expect(typedRefusal(denied, "default", signal)).toMatchObject({ code: "accessDenied" });
});
