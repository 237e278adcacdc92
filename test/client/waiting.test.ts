// How long a call waits for its answer, and what is left of it at the end of the wait; the connection is the test's.
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { ConnectionLike } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import { InvalidInputError, TimedOutError } from "../../src/client.js";
import { isOfAbort, typedRefusal } from "../../src/client/refusal.js";
import { beginWait, endCalls, endWithConnection } from "../../src/client/waiting.js";
import { collectGarbage } from "../harness/collect-garbage.js";
import { eventually } from "../harness/outages/wait.js";

const DAY_MS = 86_400_000;
const silence = new Promise<never>(() => undefined);

afterEach(() => {
  vi.useRealTimers();
});

test.each([60 * DAY_MS, Infinity])(
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

test.each(["timeoutMs", "signal"])("a call with %s leaves nothing in memory", async (name) => {
  const given = name === "signal" ? { signal: new AbortController().signal } : { timeoutMs: 1e6 };
  const left: WeakRef<object>[] = [];
  const connection = ownConnection((end) => {
    // As the SDK does for each request of the call.
    for (let request = 0; request < 20; request += 1) {
      const made = { request };
      end.addEventListener("abort", () => made.request);
      left.push(new WeakRef(made));
    }
  });
  const warned = vi.fn();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  await beginWait(given, connection)(async () => "the answer");
  const isFree = async () => {
    await delay(1);
    collectGarbage();
    return left.every((made) => made.deref() === undefined);
  };
  await eventually("the requests are forgotten", isFree);
  expect(warned).not.toHaveBeenCalled();
});

test.each([-1, NaN, "300" as never])("%o is no time, which the promise says", async (timeoutMs) => {
  const call = vi.fn(async () => "the answer");
  const wait = beginWait({ timeoutMs })(call);
  await expect(wait).rejects.toThrow(InvalidInputError);
  await expect(wait).rejects.toThrow("timeoutMs");
  expect(call).not.toHaveBeenCalled();
});

test("an option that does not exist is refused", async () => {
  const wait = beginWait({ timeout: 5 } as never)(async () => "the answer");
  await expect(wait).rejects.toThrow("options.timeout: is not known; did you mean timeoutMs");
});

/** `onCall` gets the signal of each call. */
function ownConnection(onCall: (end: AbortSignal) => void = () => undefined): ConnectionLike {
  const connection: Pick<ConnectionLike, "withAbortSignal" | "withDeadline"> = {
    withAbortSignal: (end, call) => {
      onCall(end);
      return call();
    },
    withDeadline: (_, call) => call(),
  };
  return connection as ConnectionLike;
}

test.each([{}, { timeoutMs: 60_000 }, { signal: new AbortController().signal }])(
  "a close ends a call with %o, and nothing of it is left",
  async (waiting) => {
    const ends: AbortSignal[] = [];
    const connection = ownConnection((end) => ends.push(end));
    endWithConnection(connection);
    const within = beginWait(waiting, connection, "update-1");
    const wait = within(() => within(() => silence));
    endCalls(connection);
    await expect(wait).rejects.toMatchObject({ code: "unreachable", updateId: "update-1" });
    expect(ends.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(await within(async () => "the answer")).toBe("the answer");
  },
);

test("a close ends no call on a connection of the caller's own", async () => {
  const connection = ownConnection();
  let answer: (text: string) => void = () => undefined;
  const going = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const wait = beginWait({ timeoutMs: 60_000 }, connection)(() => going);
  endCalls(connection);
  answer("the answer");
  expect(await wait).toBe("the answer");
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
