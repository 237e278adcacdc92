// What the relay makes of Temporal's answers to a signal, and how long it leaves a namespace alone that is away. The clock is the test's.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NamespaceNotFoundError, WorkflowNotFoundError } from "@temporalio/common";
import { isAnswered, Signaller, WakeSignal } from "../../../src/callbacks/relay/signaller.js";
import type { SignallerOptions } from "../../../src/callbacks/relay/signaller.js";
import { FakeTemporal } from "../support.js";
import { grpc } from "./relay-stand.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const flow = { namespace: "default", workflowId: "sendPostal/1" };
const UNAVAILABLE = grpc(14, "no connection");
const BUSY = grpc(8, "namespace rate limit exceeded");
const LATE = grpc(4, "deadline exceeded");
const notFound = (text: string) => new WorkflowNotFoundError(text, "id", undefined);

/** A signaller with its Temporal, which says `answer.error`, or takes every signal. */
function stand(over: Partial<SignallerOptions> = {}) {
  const temporal = new FakeTemporal();
  const answer: { error?: unknown } = {};
  temporal.answer = () => {
    if (answer.error) throw answer.error;
  };
  const wakeSignal = new WakeSignal();
  const signaller = new Signaller({ clientFor: () => temporal, ...over }, wakeSignal);
  return {
    ...{ temporal, answer, wakeSignal, signaller },
    send: (to = flow) => signaller.send(to, []),
  };
}

test.each([
  ["took it", undefined, undefined],
  ["the process has ended", notFound("workflow execution already completed"), "late"],
  ["the process does not exist", notFound("workflow not found for ID: x"), "unknownProcess"],
  [
    "nor one whose id speaks of one",
    notFound("workflow not found for ID: namespace 1"),
    "unknownProcess",
  ],
  ["the namespace is not found", notFound("Namespace default is not found."), "away"],
  ["the namespace is missing", new NamespaceNotFoundError("default"), "away"],
  ["the server is away", UNAVAILABLE, "away"],
  ["access is denied", grpc(7, "request unauthorized"), "away"],
  ["nobody is known", grpc(16, "no token"), "away"],
  ["the input is too large", grpc(3, "Signal input size exceeds limit"), "refused"],
  ["gRPC's limit", grpc(8, "grpc: received message larger than max (5 vs. 4)"), "refused"],
  ["a blob's limit", grpc(8, "Blob too large"), "refused"],
  ["it is busy", BUSY, "busy"],
  ["an error of the server", grpc(13, "internal error"), "busy"],
  ["not even gRPC", grpc(14, "no connection").cause, "away"],
  ["no error of Temporal: the signal was not made", new TypeError("cannot be encoded"), "failed"],
])("Temporal's answer: %s", async (_, error, problem) => {
  const { answer, send } = stand();
  answer.error = error;
  expect(await send()).toBe(problem);
});

test("an answer that is final needs no other try", () => {
  for (const problem of [undefined, "late", "unknownProcess", "refused"] as const)
    expect(isAnswered(problem)).toBe(true);
  for (const problem of ["failed", "timeout", "busy", "away"] as const)
    expect(isAnswered(problem)).toBe(false);
});

test("a signal has its time: ten seconds, or those of the configuration", async () => {
  for (const [over, ms] of [
    [{}, 10_000],
    [{ signalTimeoutMs: 7 }, 7],
  ] as const) {
    const { temporal, send } = stand(over);
    await send();
    expect(temporal.deadline).toBe(Date.now() + ms);
  }
});

test("if no process answers in time, Temporal is away; if others do, that process alone waits", async () => {
  const { temporal, answer, send } = stand();
  answer.error = LATE;
  expect(await send()).toBe("away");
  await pass(60_000);
  answer.error = undefined;
  await send();
  await pass(1);
  answer.error = LATE;
  expect(await send()).toBe("away");
  await pass(60_000);
  // Another one gets through meanwhile.
  temporal.answer = async ({ workflowId }) => {
    if (workflowId !== flow.workflowId) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
    throw LATE;
  };
  const both = Promise.all([send(), send({ ...flow, workflowId: "sendPostal/2" })]);
  await pass(10);
  expect(await both).toEqual(["timeout", undefined]);
});

test("others are served while an answer of their namespace is not older than ten minutes, whatever it was", async () => {
  const { answer, signaller, send } = stand();
  const serves = () => ["default", "other"].map((name) => signaller.servesOthers(name));
  expect(serves()).toEqual([false, false]);
  for (const error of [BUSY, new TypeError("cannot be encoded")]) {
    answer.error = error;
    await send();
    expect(serves()).toEqual([false, false]);
  }
  answer.error = notFound("workflow execution already completed");
  await send();
  await pass(600_000);
  expect(serves()).toEqual([true, false]);
  await pass(1);
  expect(serves()).toEqual([false, false]);
});

test("a namespace that is away gets no signal for a while, and each time for longer; others do", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const { temporal, answer, signaller, send } = stand();
  const wakeUp = vi.spyOn(WakeSignal.prototype, "wakeIn");
  let tries = 0;
  temporal.answer = () => {
    tries += 1;
    if (answer.error) throw answer.error;
  };
  answer.error = UNAVAILABLE;
  const pauses = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000];
  for (const [index, ms] of pauses.entries()) {
    // Those that are under way together begin one pause.
    expect(await Promise.all([send(), send()])).toEqual(["away", "away"]);
    await pass(ms - 1);
    expect(await send()).toBe("away");
    expect([signaller.paused(), tries]).toEqual([["default"], 2 * (index + 1)]);
    await pass(1);
    expect(signaller.paused()).toEqual([]);
  }
  expect(wakeUp.mock.calls).toEqual(pauses.map((ms) => [ms]));
  await send();
  answer.error = undefined;
  expect(await send({ ...flow, namespace: "other" })).toBeUndefined();
  await pass(15_000);
  expect(await send()).toBeUndefined();
  // What it answers ends the growth.
  answer.error = UNAVAILABLE;
  await send();
  expect(wakeUp).toHaveBeenLastCalledWith(500);
});

test("pauses differ by chance, so that relays do not come back together", async () => {
  for (const [chance, ms] of [
    [0, 375],
    [1, 625],
  ] as const) {
    vi.spyOn(Math, "random").mockReturnValue(chance);
    const { answer, signaller, send } = stand();
    answer.error = UNAVAILABLE;
    await send();
    await pass(ms - 1);
    expect(signaller.paused()).toEqual(["default"]);
    await pass(1);
    expect(signaller.paused()).toEqual([]);
  }
});

test("a namespace for which there is no client is away, and a warning names it once for each pause", async () => {
  const warn = vi.fn<(message: string, details?: object) => void>();
  const clientFor = () => Promise.reject(new Error("no certificate"));
  const { send } = stand({ clientFor, logger: { warn } });
  expect(await Promise.all([send(), send()])).toEqual(["away", "away"]);
  expect(warn.mock.calls).toEqual([["Temporal is out of reach", { namespace: "default" }]]);
});

/** How long the relay sleeps; undefined: more than a minute. */
async function sleeps(wakeSignal: WakeSignal, ms = 100_000): Promise<number | undefined> {
  const beganAt = Date.now();
  let slept: number | undefined;
  void wakeSignal.wait(ms).then(() => (slept = Date.now() - beganAt));
  await pass(60_000);
  return slept;
}

test("the relay sleeps until its time is over or something wakes it, and leaves no timer behind", async () => {
  const { wakeSignal } = stand();
  expect(await sleeps(wakeSignal, 1_000)).toBe(1_000);
  wakeSignal.wakeIn(2_000);
  expect(await sleeps(wakeSignal, 50_000)).toBe(2_000);
  expect(vi.getTimerCount()).toBe(0);
  setTimeout(() => wakeSignal.wake(), 10);
  expect(await sleeps(wakeSignal)).toBe(10);
  expect(await sleeps(wakeSignal)).toBeUndefined();
});

test("what wakes nobody counts once for the next sleep, unless it is cleared", async () => {
  const { wakeSignal } = stand();
  wakeSignal.wake();
  wakeSignal.wake();
  expect(await sleeps(wakeSignal)).toBe(0);
  expect(await sleeps(wakeSignal, 1_000)).toBe(1_000);
  wakeSignal.wake();
  wakeSignal.clear();
  expect(await sleeps(wakeSignal, 1_000)).toBe(1_000);
});

test("closing wakes the relay and ends its timers", async () => {
  const { wakeSignal } = stand();
  wakeSignal.wakeIn(50_000);
  setTimeout(() => wakeSignal.close(), 10);
  expect(await sleeps(wakeSignal)).toBe(10);
  expect(vi.getTimerCount()).toBe(0);
});
